"""What ``nova run`` does: one program, over a copy of one folder, and the changes back if you
say so.

Apart from the options' declaration, so that the quick way (``quick``) need not load typer.
"""

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
    Limits,
    OutputCallback,
    ProgressCallback,
    RuntimeName,
    Status,
    Workspace,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The command line of ``nova run``, each part as it was typed."""

    file: str | None = None
    arguments: tuple[str, ...] = ()
    language: str | None = None
    work: Path | None = None
    write: Write = Write.ASK
    timeout_s: float | None = None
    memory: str | None = None
    environment: tuple[str, ...] = ()
    timezone: str = "UTC"
    stdin: bool = True
    runtime: str | None = None
    as_json: bool = False
    raw: bool = False


def run_program(options: RunOptions) -> int:
    """Run it, show what it does, and return the command's exit code.

    Raises:
        NovaError: it could not be started.
    """
    limits = _limits(options)
    if options.work is None and options.write is Write.YES:
        raise InvalidRequest(
            "request.write_without_work",
            "--write yes was given, but no folder to write into.",
            "Name it with --work DIR.",
        )
    program = find_program(options.file, options.language, options.work)
    connected = options.stdin and options.file is not None and options.file != STDIN
    request = ExecutionRequest(
        language=program.language,
        source=program.source,
        source_name=program.name,
        entry=program.entry,
        workspace=_workspace(options),
        arguments=options.arguments,
        stdin=read_piped_input(limits.memory_bytes) if connected else None,
        environment=_environment(options.environment),
        timezone=options.timezone,
        limits=limits,
        runtime=None if options.runtime is None else _runtime(options.runtime),
    )
    if options.as_json:
        return _run_for_a_program(request, program, options.write)
    return _run_for_a_person(request, program, options.write, raw=options.raw)


def _workspace(options: RunOptions) -> Workspace | None:
    if options.work is None:
        return None
    return Workspace(path=options.work, read_only=options.write is Write.NO)


def _limits(options: RunOptions) -> Limits:
    limits = Limits()
    if options.timeout_s is not None:
        limits = dataclasses.replace(limits, timeout_s=options.timeout_s)
    if options.memory is not None:
        memory_bytes = parse_size(options.memory, "--memory")
        limits = dataclasses.replace(limits, memory_bytes=memory_bytes)
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
    output = terminal.LiveOutput(
        raw=raw,
        cancellation=cancellation,
        progress=progress,
        patience_s=request.limits.timeout_s,
    )
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
        # On a terminal, a blank line apart from what the program wrote.
        apart = "\n" if terminal.is_terminal(sys.stderr) and not consent.asked else ""
        sys.stderr.write(apart + "\n".join(lines) + "\n")
    return exit_code_of(result, wanted=consent.wanted)


def _worth_telling(result: ExecutionResult) -> bool:
    """Into a log or a pipe, a run that simply went well says nothing, as other tools do."""
    ordinary = result.status is Status.FINISHED and result.sandboxed and result.error is None
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
