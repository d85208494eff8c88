"""The edge of the command line: the one form and the exit code of every error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from nova_desktop.cli import terminal
from nova_desktop.cli.exit_codes import INTERNAL, OK, STOPPED
from nova_desktop.cli.foreign_text import escape
from nova_desktop.cli.quick import quick_options
from nova_desktop.cli.running import run_program
from nova_desktop.cli.summary import error_lines
from nova_desktop.model import ErrorInfo, InvalidRequest, NovaError

DEBUG_VARIABLE = "NOVA_DEBUG"


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry out one command and return its exit code. No exception leaves it."""
    terminal.prepare_streams()
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in ours
    code = _carry_out(arguments, as_json)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _nobody_reads_stdout()
    return code


def _carry_out(arguments: Sequence[str], as_json: bool) -> int:
    try:
        options = quick_options(arguments)
        return _by_typer(arguments) if options is None else run_program(options)
    except NovaError as error:
        return _failed(error.info(), error.exit_code, as_json)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        return OK  # who read our output has seen enough of it
    except Exception as error:  # noqa: BLE001 - the last edge: a user never sees a traceback
        return _failed(_bug(error), INTERNAL, as_json)


def _by_typer(arguments: Sequence[str]) -> int:
    """Raises:
    InvalidRequest: the command line makes no sense.
    """
    import typer

    from nova_desktop.cli.app import COMMANDS, app

    try:
        code = app(list(arguments), prog_name="nova", standalone_mode=False)
    except typer.TyperException as error:
        command = next((word for word in arguments if word in COMMANDS), "")
        see = f"nova {command} --help" if command else "nova --help"
        raise InvalidRequest("request.usage", error.format_message(), f"See {see}.") from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as ended:  # how typer ends a request of the shell's completion
        code = ended.code
    return code if isinstance(code, int) else OK


def _failed(error: ErrorInfo, code: int, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"error": error.to_json()}) + "\n")
    else:
        style = terminal.Style(sys.stderr)
        sys.stderr.write("\n".join(error_lines(error, style)) + "\n")
    return code


def _bug(error: Exception) -> ErrorInfo:
    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        sys.stderr.write(escape(traceback.format_exc()))
    return ErrorInfo(
        "internal.bug",
        f"This is a fault of Nova, not of your program: {type(error).__name__}: {error}",
        f"Run it again with {DEBUG_VARIABLE}=1 for the details, and report them.",
    )


def _nobody_reads_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains about the pipe as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
