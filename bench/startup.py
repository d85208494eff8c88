"""One line of code, from request to result: what a fresh start costs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import peers
from bench.table import Row, Section, median_row
from bench.timing import Contender, interleaved
from bench.tools import NotAvailable, found, native_python, native_version, run
from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import Cancellation, Language, Limits, Status
from nova_desktop.sandbox.wasm import WasmRuntime
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestProgram

SOURCE = {Language.PYTHON: "print(1+1)", Language.JAVASCRIPT: "console.log(1+1)"}
DOCKER_IMAGE = "python:3.13-slim"


def fresh_starts(engine: Engine, runtime: WasmRuntime, *, quick: bool) -> Iterator[Section]:
    """In an idle process: the engine's whole journey, and the isolate alone."""
    rounds = 50 if quick else 400
    for language, native in (
        (Language.PYTHON, _native_python),
        (Language.JAVASCRIPT, _native_javascript),
    ):
        ours: dict[str, Contender] = {
            f"nova engine, fresh {language}": _engine(engine, language),
            f"nova isolate, fresh {language}": _isolate(runtime, language),
        }
        rows = [median_row(name, times) for name, times in interleaved(ours, rounds).items()]
        baseline, *others = _processes(native, quick=quick)
        rows += [baseline, *others]
        if language is Language.PYTHON:
            rows += peers.rows(quick=quick)
            rows.append(_docker(quick=quick))
        yield Section(
            f"{SOURCE[language]}, request to result",
            "ms",
            rows,
            baseline=baseline.name,
            remarks=[native_version()] if language is Language.PYTHON else [],
        )


def whole_process(*, quick: bool) -> Section:
    """``nova run`` from the shell's point of view."""
    program = Path(__file__).parent / "programs" / "hello.py"
    samples = interleaved(
        {
            "nova run hello.py": lambda: run(
                [sys.executable, "-m", "nova_desktop", "run", program]
            ),
            "python3 hello.py": lambda: run([native_python(), program]),
        },
        5 if quick else 15,
    )
    rows = [median_row(name, times) for name, times in samples.items()]
    return Section("A whole process", "ms", rows, baseline="python3 hello.py")


def _engine(engine: Engine, language: Language) -> Contender:
    request = ExecutionRequest(language=language, source=SOURCE[language])

    def once() -> None:
        result = engine.execute(request)
        if result.status is not Status.FINISHED or result.stdout != "2\n":
            raise RuntimeError(f"unexpected result: {json.dumps(result.to_json())}")

    return once


def _isolate(runtime: WasmRuntime, language: Language) -> Contender:
    runtime.prepare(language)
    program = GuestProgram(language=language, source=SOURCE[language])
    limits = Limits()

    def once() -> None:
        budget = MemoryBudget(limits.memory_bytes)
        files = runtime.new_files(language, budget)
        outcome = runtime.run(
            program, files, limits=limits, budget=budget, cancellation=Cancellation()
        )
        if outcome.stdout != b"2\n":
            raise RuntimeError(f"unexpected outcome: {outcome}")

    return once


def _native_python() -> tuple[str, list[str]]:
    return "native python3 -I -S -c", [native_python(), "-I", "-S", "-c", "print(1+1)"]


def _native_javascript() -> tuple[str, list[str]]:
    return "native node -e", [found("node"), "-e", "console.log(1+1)"]


_BUBBLEWRAP = [
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
    *("--unshare-all", "--die-with-parent", "--new-session", "--"),
]


def _processes(native: Callable[[], tuple[str, list[str]]], *, quick: bool) -> list[Row]:
    """The native interpreter, bare and inside bubblewrap."""
    try:
        name, command = native()
    except NotAvailable as error:
        return [Row("native", None, str(error))]
    contenders: dict[str, Contender] = {name: lambda: run(command)}
    missing: list[Row] = []
    confined = f"bubblewrap + {name}"
    try:
        wrapped = [found("bwrap"), *_BUBBLEWRAP, *command]
        run(wrapped)
        contenders[confined] = lambda: run(wrapped)
    except NotAvailable as error:
        missing.append(Row(confined, None, str(error)))
    samples = interleaved(contenders, 5 if quick else 30)
    return [*(median_row(each, times) for each, times in samples.items()), *missing]


def _docker(*, quick: bool) -> Row:
    name = f"docker run {DOCKER_IMAGE}"
    command = ["docker", "run", "--rm", "--network", "none", "--pull", "never", DOCKER_IMAGE]
    try:
        run(["docker", "info", "--format", "{{.ServerVersion}}"])
        times = interleaved(
            {name: lambda: run([*command, "python3", "-I", "-S", "-c", "print(1+1)"])},
            2 if quick else 8,
        )
    except NotAvailable as error:
        return Row(name, None, str(error))
    return median_row(name, times[name])
