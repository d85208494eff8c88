"""The edge of the command line: the commands, and the one form and exit code of every error."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from nova_desktop.cli import terminal
from nova_desktop.cli.doctor import doctor
from nova_desktop.cli.exit_codes import INTERNAL, OK, STOPPED, USAGE
from nova_desktop.cli.prompt import prompt
from nova_desktop.cli.run import run
from nova_desktop.cli.summary import error_lines
from nova_desktop.cli.version import version
from nova_desktop.model import ErrorInfo, NovaError

DEBUG_VARIABLE = "NOVA_DEBUG"

app = typer.Typer(
    name="nova",
    help="Runs code you did not write on your own computer: safely, visibly, without Docker.",
    no_args_is_help=True,
    # An error has one form, ours: typer's own would print a page of source.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(doctor)
app.command()(prompt)
app.command()(version)


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry out one command and return its exit code. No exception leaves it."""
    terminal.never_fail_on_encoding()
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in ours
    try:
        code = app(list(arguments), prog_name="nova", standalone_mode=False)
        sys.stdout.flush()
    except NovaError as error:
        return _failed(error.info(), error.exit_code, as_json)
    except typer.TyperException as error:
        return _failed(_usage_error(error.format_message(), ours), USAGE, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return STOPPED
    except BrokenPipeError:
        _nobody_reads_stdout()
        return OK
    except SystemExit:  # typer ends the process itself after a shell completion request
        raise
    except Exception as error:  # noqa: BLE001 - the last edge: a user never sees a traceback
        return _failed(_bug(error), INTERNAL, as_json)
    return code if isinstance(code, int) else OK


def _failed(error: ErrorInfo, code: int, as_json: bool) -> int:
    try:
        if as_json:
            sys.stdout.write(json.dumps({"error": error.to_json()}) + "\n")
            sys.stdout.flush()
        else:
            style = terminal.Style(sys.stderr)
            sys.stderr.write("\n".join(error_lines(error, style)) + "\n")
    except BrokenPipeError:
        _nobody_reads_stdout()
    return code


def _usage_error(message: str, arguments: Sequence[str]) -> ErrorInfo:
    command = next((word for word in arguments if not word.startswith("-")), "")
    known = command in {info.callback.__name__ for info in app.registered_commands if info.callback}
    help_command = f"nova {command} --help" if known else "nova --help"
    return ErrorInfo("request.usage", message, f"See {help_command}.")


def _bug(error: Exception) -> ErrorInfo:
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exc()
    return ErrorInfo(
        "internal.bug",
        f"This is a fault of Nova, not of your program: {type(error).__name__}: {error}",
        f"Run it again with {DEBUG_VARIABLE}=1 for the details, and report them.",
    )


def _nobody_reads_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains about the pipe as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
