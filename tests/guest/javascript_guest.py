"""Runs JavaScript programs in the guest that ships with the repository.

``NOVA_TEST_GUESTS``  a folder with other guests, for those who are changing them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nova_desktop.model import MIB, Cancellation, Language, Limits, Status
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram, GuestReport
from nova_desktop.sandbox.wasm.runtime import WasmRuntime


@functools.cache
def runtime() -> WasmRuntime:
    dist = os.environ.get("NOVA_TEST_GUESTS")
    return WasmRuntime(
        cache=Path(os.environ["XDG_CACHE_HOME"]) / "guests",
        dist=Path(dist) if dist else None,
    )


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, its output as text and the files that it left in ``/work``."""

    outcome: GuestOutcome
    files: Mapping[str, bytes]

    @property
    def out(self) -> str:
        return self.outcome.stdout.decode()

    @property
    def err(self) -> str:
        return self.outcome.stderr.decode()

    @property
    def status(self) -> Status:
        return self.outcome.status

    @property
    def exit_code(self) -> int | None:
        return self.outcome.exit_code

    @property
    def error_code(self) -> str:
        return self.outcome.error.code if self.outcome.error else ""

    @property
    def report(self) -> GuestReport:
        assert self.outcome.report is not None, "the guest reported nothing"
        return self.outcome.report


def run(
    source: str | None = None,
    *,
    name: str = "main.js",
    entry: str | None = None,
    files: Mapping[str, str | bytes] | None = None,
    stdin: bytes | None = None,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    timezone: str = "UTC",
    seconds: float = 10.0,
    memory: int = 256 * MIB,
    host_call: Callable[[bytes], bytes] | None = None,
) -> Run:
    """Run ``source``, or the file ``entry`` of ``files`` (relative to ``/work``)."""
    budget = MemoryBudget(memory)
    work = runtime().new_files(Language.JAVASCRIPT, budget)
    for path, content in (files or {}).items():
        parent = Path(path).parent
        for folder in [*reversed(parent.parents), parent][1:]:
            if str(folder) not in {entry.path for entry in work.walk()}:
                work.stage_directory(str(folder))
        work.stage_file(path, content.encode() if isinstance(content, str) else content)
    outcome = runtime().run(
        GuestProgram(
            language=Language.JAVASCRIPT,
            source=source,
            source_name=name,
            entry=f"/work/{entry}" if entry else None,
            arguments=tuple(arguments),
            environment=dict(environment or {}),
            stdin=stdin,
            timezone=timezone,
        ),
        work,
        limits=Limits(timeout_s=seconds, memory_bytes=memory),
        budget=budget,
        cancellation=Cancellation(),
        host_call=host_call,
    )
    left = {item.path: item.read() for item in work.walk() if not item.is_directory}
    return Run(outcome, left)


def output(source: str, *, name: str = "main.js", stdin: bytes | None = None) -> str:
    """Standard output of a program that must end well and print no error."""
    done = run(source, name=name, stdin=stdin)
    assert (done.status, done.err) == (Status.FINISHED, ""), done.outcome
    return done.out
