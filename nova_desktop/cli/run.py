"""``nova run``: one program, over a copy of one folder, and the changes back if you say so."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from nova_desktop.cli import terminal
from nova_desktop.cli.consent import Consent, Write
from nova_desktop.cli.exit_codes import exit_code_of
from nova_desktop.cli.piped_input import read_piped_input
from nova_desktop.cli.program import STDIN, Program, find_program, missing_sibling
from nova_desktop.cli.summary import summary
from nova_desktop.cli.units import parse_size
from nova_desktop.model import (
    Cancellation,
    ExecutionRequest,
    ExecutionResult,
    InvalidRequest,
    Language,
    Limits,
    OutputCallback,
    ProgressCallback,
    RuntimeName,
    Status,
    Workspace,
)


def run(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|-]",
            help="The program: a file, a file inside --work, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- ARGS]",
            help="What the program finds in sys.argv or process.argv.",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="python|javascript|bash",
            help="Needed where the file's suffix does not tell it.",
            autocompletion=lambda: list(Language),
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            "-w",
            metavar="DIR|FILE",
            help="The folder or file that the program sees, as /work. It works on a copy. "
            "Nothing else of your machine is visible to it, not even the program's own folder.",
            show_default=False,
        ),
    ] = None,
    write: Annotated[
        Write,
        typer.Option(
            help="Whether changes go back into --work. ask needs a terminal; without one, "
            "nothing is written.",
        ),
    ] = Write.ASK,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long it may run.  [default: 30]"),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for the program, its files and its output together.  [default: 512M]",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An environment variable; may be repeated. None of yours is passed on.",
        ),
    ] = None,
    timezone: Annotated[
        str,
        typer.Option(metavar="ZONE", help="The program's local time, like Europe/Berlin."),
    ] = "UTC",
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin/--no-stdin",
            help="Whether what is piped into nova is the program's standard input.",
        ),
    ] = True,
    runtime: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(RuntimeName),
            help="What isolates the program. local isolates nothing and needs "
            "NOVA_SANDBOX_ALLOW_LOCAL=1 as well.  [default: wasm]",
            autocompletion=lambda: list(RuntimeName),
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, and nothing else.")
    ] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="Pass the program's bytes to the terminal as they are, harmful or not."
        ),
    ] = False,
) -> int:
    """Run a program you did not write, safely.

    It sees the folder named with --work as /work, a copy in memory, and nothing else: no other
    file, no network, no other process. When it is over, you see what it wants to change and
    decide.

    Examples:

      nova run report.py --work ~/sales

      nova run clean.py --work notes.txt --write yes

      nova run convert.js --work photos -- --width 800

      echo 'print(6 * 7)' | nova run -l python

    Exit codes: 0 it ended well; 1 it failed; 2 wrong usage; 3 refused, or a change could not be
    written; 4 runtime not available; 5 a limit was hit; 70 a fault of Nova; 130 stopped by you.
    """
    limits = _limits(timeout, memory)
    if work is None and write is Write.YES:
        raise InvalidRequest(
            "request.write_without_work",
            "--write yes was given, but no folder to write into.",
            "Name it with --work DIR.",
        )
    program = find_program(file, language, work)
    connected = stdin and file is not None and file != STDIN
    request = ExecutionRequest(
        language=program.language,
        source=program.source,
        source_name=program.name,
        entry=program.entry,
        workspace=None if work is None else Workspace(path=work, read_only=write is Write.NO),
        arguments=tuple(arguments or ()),
        stdin=read_piped_input(limits.memory_bytes) if connected else None,
        environment=_environment(env or ()),
        timezone=timezone,
        limits=limits,
        runtime=None if runtime is None else _runtime(runtime),
    )
    if as_json:
        return _run_for_a_program(request, program, write)
    return _run_for_a_person(request, program, write, raw=raw)


def _limits(timeout_s: float | None, memory: str | None) -> Limits:
    limits = Limits()
    if timeout_s is not None:
        limits = dataclasses.replace(limits, timeout_s=timeout_s)
    if memory is not None:
        limits = dataclasses.replace(limits, memory_bytes=parse_size(memory, "--memory"))
    return limits


def _environment(pairs: Sequence[str]) -> dict[str, str]:
    environment: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequest(
                "request.bad_environment",
                f"--env {pair!r} has no value.",
                "Write --env NAME=VALUE. Your own environment is never read for it.",
            )
        environment[name] = value
    return environment


def _runtime(named: str) -> RuntimeName:
    try:
        return RuntimeName(named)
    except ValueError:
        raise InvalidRequest(
            "request.unknown_runtime",
            f"{named!r} is not a runtime.",
            f"Use one of {', '.join(RuntimeName)}.",
        ) from None


def _run_for_a_program(request: ExecutionRequest, program: Program, write: Write) -> int:
    """One JSON document on stdout. Nobody is asked, so ``ask`` writes nothing."""
    consent = Consent(write, place="", can_ask=False)
    result = _execute(request, Cancellation(), consent)
    if result.error is not None and (hint := missing_sibling(program, result.error)):
        result = dataclasses.replace(result, error=dataclasses.replace(result.error, hint=hint))
    sys.stdout.write(json.dumps(result.to_json()) + "\n")
    return exit_code_of(result, wanted=consent.wanted)


def _run_for_a_person(
    request: ExecutionRequest, program: Program, write: Write, *, raw: bool
) -> int:
    """Output as it comes, the question, and a short report on stderr."""
    cancellation = Cancellation()
    progress = terminal.ProgressLine()
    output = terminal.LiveOutput(raw=raw, cancellation=cancellation, progress=progress)
    place = "" if request.workspace is None else str(request.workspace.path)

    def quiet() -> None:
        progress.clear()
        output.finish()

    consent = Consent(write, place, can_ask=terminal.can_ask(), before_asking=quiet)
    result = _execute(request, cancellation, consent, output, progress)
    quiet()
    if terminal.is_terminal(sys.stderr) or _worth_telling(result):
        lines = summary(
            result,
            style=terminal.Style(sys.stderr),
            place=place,
            plan_shown=consent.asked,
            how_to_write=consent.how_to_write,
            hint=missing_sibling(program, result.error),
        )
        sys.stderr.write("\n".join(lines) + "\n")
    return exit_code_of(result, wanted=consent.wanted)


def _worth_telling(result: ExecutionResult) -> bool:
    """Into a log or a pipe, a run that simply went well says nothing, as other tools do."""
    ordinary = result.status is Status.FINISHED and result.sandboxed
    return not ordinary or bool(result.files or result.denied or result.left_out)


def _execute(
    request: ExecutionRequest,
    cancellation: Cancellation,
    consent: Consent,
    on_output: OutputCallback | None = None,
    on_progress: ProgressCallback | None = None,
) -> ExecutionResult:
    from nova_desktop.engine import Engine

    with Engine.open() as engine, _interrupt_requests(cancellation):
        return engine.execute(
            request,
            on_output=on_output,
            on_progress=on_progress,
            approve=consent if consent.may_write else None,
            cancellation=cancellation,
            owner_typed_runtime=request.runtime is not None,
        )


@contextlib.contextmanager
def _interrupt_requests(cancellation: Cancellation) -> Iterator[None]:
    """Ctrl-C asks the run to stop: its output is kept, nothing is written.

    A second one no longer waits for a clean end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set handlers; a test's runner may not be it
        return

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        if cancellation.requested:
            raise KeyboardInterrupt
        cancellation.request()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
