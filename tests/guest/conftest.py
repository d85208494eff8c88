"""Programs in the real guests, run through the product's own runtime.

One runtime serves the whole session; every run is a fresh instance in it. ``NOVA_TEST_GUESTS``
names another folder of guests than the repository's, to try a snapshot that is not yet in it.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from nova_desktop.model import MIB, Cancellation, Denied, Language, Limits, Status
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestProgram, GuestReport
from nova_desktop.sandbox.wasm.runtime import WasmRuntime
from nova_desktop.settings.paths import Paths

PROGRAM_NAMES = {Language.PYTHON: "prog.py", Language.JAVASCRIPT: "main.js"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a program."""

    status: Status
    exit_code: int | None
    stdout: str
    stderr: str
    raw_stdout: bytes
    report: GuestReport | None
    denied: tuple[Denied, ...]
    files: Mapping[str, bytes]
    """``/work`` after the run: path to content."""
    seconds: float
    error_code: str


class Programs:
    """Runs programs of one language."""

    def __init__(self, runtime: WasmRuntime, language: Language) -> None:
        self.runtime = runtime
        self.language = language

    def __call__(
        self,
        source: str | None = None,
        *,
        name: str | None = None,
        entry: str | None = None,
        files: Mapping[str, str | bytes] | None = None,
        arguments: tuple[str, ...] = (),
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        timezone: str = "UTC",
        timeout_s: float = 30.0,
        memory_bytes: int = 512 * MIB,
        check: bool = False,
    ) -> Ran:
        """Run ``source`` (dedented) or the program at ``/work/<entry>``.

        With ``check`` the program must end well; its own words are shown if it does not.
        """
        budget = MemoryBudget(memory_bytes)
        tree = self.runtime.new_files(self.language, budget)
        for path, content in (files or {}).items():
            data = content if isinstance(content, bytes) else textwrap.dedent(content).encode()
            tree.stage_file(path, data)
        variables = {"HOME": "/work", "TZ": timezone, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
        outcome = self.runtime.run(
            GuestProgram(
                language=self.language,
                source=None if source is None else textwrap.dedent(source),
                source_name=name or PROGRAM_NAMES[self.language],
                entry=None if entry is None else f"/work/{entry}",
                arguments=arguments,
                environment=variables | dict(environment or {}),
                stdin=stdin,
                timezone=timezone,
            ),
            tree,
            limits=Limits(timeout_s=timeout_s, memory_bytes=memory_bytes),
            budget=budget,
            cancellation=Cancellation(),
        )
        ran = Ran(
            status=outcome.status,
            exit_code=outcome.exit_code,
            stdout=outcome.stdout.decode("utf-8", "replace"),
            stderr=outcome.stderr.decode("utf-8", "replace"),
            raw_stdout=outcome.stdout,
            report=outcome.report,
            denied=outcome.denied,
            files={entry.path: entry.read() for entry in tree.walk() if not entry.is_directory},
            seconds=outcome.duration_ns / 1e9,
            error_code="" if outcome.error is None else outcome.error.code,
        )
        if check:
            assert (ran.status, ran.exit_code) == (Status.FINISHED, 0), ran.stderr
        return ran


@pytest.fixture(scope="session")
def wasm_runtime() -> Iterator[WasmRuntime]:
    folder = os.environ.get("NOVA_TEST_GUESTS")
    runtime = WasmRuntime(
        dist=Path(folder) if folder else None, cache=Paths.find(None, os.environ).cache
    )
    yield runtime
    runtime.close()


@pytest.fixture(scope="session")
def python(wasm_runtime: WasmRuntime) -> Programs:
    wasm_runtime.prepare(Language.PYTHON)
    return Programs(wasm_runtime, Language.PYTHON)


@pytest.fixture(scope="session")
def javascript(wasm_runtime: WasmRuntime) -> Programs:
    wasm_runtime.prepare(Language.JAVASCRIPT)
    return Programs(wasm_runtime, Language.JAVASCRIPT)
