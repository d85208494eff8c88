"""An engine that answers what a test wrote down, so that only the command line is tested.

Run as a program (``python -m tests.cli.fake_engine SCENARIO ARGUMENTS``) it is ``nova`` over
that engine, for the tests that need a real terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from types import SimpleNamespace, TracebackType
from typing import Any

from nova_desktop.model import (
    Cancellation,
    ChangeKind,
    Denied,
    ExecutionRequest,
    ExecutionResult,
    FileChange,
    PathNote,
    Status,
    Stream,
)

Behaviour = Callable[["FakeRun"], ExecutionResult]


class FakeRun:
    """One call of ``execute``, as the behaviour of a test sees it."""

    def __init__(self, request: ExecutionRequest, callbacks: dict[str, Any]) -> None:
        self.request = request
        self.callbacks = callbacks
        self.cancellation: Cancellation = callbacks["cancellation"]

    def write(self, data: bytes, stream: Stream = Stream.STDOUT) -> None:
        if (on_output := self.callbacks["on_output"]) is not None:
            on_output(stream, data)

    def ask(self, *changes: FileChange, needs_naming: Collection[str] = ()) -> Any:
        """What the owner answers to a plan of these changes; False when she cannot be asked."""
        if self.callbacks["approve"] is None:
            return False
        notes = tuple(PathNote(path, "git runs it", "apply.runs_outside") for path in needs_naming)
        plan = SimpleNamespace(changes=changes, withheld=(), needs_naming=notes)
        return self.callbacks["approve"](plan)


def finished(**fields: Any) -> ExecutionResult:
    defaults = {"status": Status.FINISHED, "exit_code": 0, "duration_ms": 12.0, "runtime": "wasm"}
    return ExecutionResult(**{**defaults, **fields})


class FakeEngine:
    """Stands where ``nova_desktop.engine.Engine`` stands."""

    def __init__(self, behaviour: Behaviour = lambda run: finished()) -> None:
        self.behaviour = behaviour
        self.requests: list[ExecutionRequest] = []
        self.callbacks: dict[str, Any] = {}

    def open(self) -> FakeEngine:
        return self

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    def execute(self, request: ExecutionRequest, **callbacks: Any) -> ExecutionResult:
        self.requests.append(request)
        self.callbacks = callbacks
        return self.behaviour(FakeRun(request, callbacks))


CREATED = FileChange(path="out.txt", kind=ChangeKind.CREATED, size=5)
HOOK = FileChange(path=".git/hooks/x", kind=ChangeKind.CREATED, size=5, runs_outside=True)
EVIL_NAME = FileChange(path="a\u202egpj.exe\n│ ok\x1b[2J", kind=ChangeKind.CREATED, size=1)


def _written(answer: Any, *changes: FileChange) -> ExecutionResult:
    paths = [change.path for change in changes]
    written = paths if answer is True else [path for path in paths if path in (answer or ())]
    return finished(files=changes, written=tuple(written))


def _changes(run: FakeRun) -> ExecutionResult:
    run.write(b"program says hello")
    return _written(run.ask(CREATED), CREATED)


def _evil(run: FakeRun) -> ExecutionResult:
    run.write(b"\x1b[31mType allow to write these changes: \x1b[2J")
    return _written(run.ask(EVIL_NAME), EVIL_NAME)


def _slow_then_changes(run: FakeRun) -> ExecutionResult:
    run.write(b"started\n")
    time.sleep(0.6)
    return _written(run.ask(CREATED), CREATED)


def _sensitive(run: FakeRun) -> ExecutionResult:
    return _written(run.ask(CREATED, HOOK, needs_naming=[HOOK.path]), CREATED, HOOK)


def _until_stopped(run: FakeRun) -> ExecutionResult:
    run.write(b"partial")
    run.cancellation.wait(10)
    assert run.cancellation.requested
    return finished(status=Status.STOPPED, exit_code=None, files=(CREATED,))


def _compiling(run: FakeRun) -> ExecutionResult:
    # As a compiler does: it tells that it begins, and then nothing for long.
    run.callbacks["on_progress"]("Preparing \x1b[2J guests", 0, 0)
    time.sleep(0.9)
    run.write(b"ready\n")
    return finished(denied=(Denied("path_symlink", "/etc/\u202epasswd", "no links"),))


def _bullets(run: FakeRun) -> ExecutionResult:
    run.write("●😊 é\n".encode())
    return finished(files=(FileChange(path="●😊.txt", kind=ChangeKind.CREATED),))


SCENARIOS: dict[str, Behaviour] = {
    "changes": _changes,
    "evil": _evil,
    "slow": _slow_then_changes,
    "sensitive": _sensitive,
    "until-stopped": _until_stopped,
    "compiling": _compiling,
    "bullets": _bullets,
}


if __name__ == "__main__":
    import nova_desktop.engine
    from nova_desktop.cli.main import run_command_line

    scenario, *arguments = sys.argv[1:]
    nova_desktop.engine.Engine = FakeEngine(SCENARIOS[scenario])  # type: ignore[assignment,misc]
    sys.exit(run_command_line(arguments))
