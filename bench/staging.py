"""A large folder in, a tenth of it changed by the program, written back: against ``cp -r``."""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
from pathlib import Path

from bench.table import Row, Section
from bench.timing import milliseconds
from bench.tools import found, run
from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import MIB, Language, Limits, Status, Workspace

FILES = 10_000
BYTES = 200 * MIB
CHANGED = 1_000

_SOURCE = f"""
import os
names = [os.path.join(at, name) for at, _, files in sorted(os.walk("/work")) for name in files]
for name in names[:: len(names) // {CHANGED}][:{CHANGED}]:
    with open(name, "r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))
"""


def staging(engine: Engine, *, quick: bool) -> Section:
    rounds = 1 if quick else 3
    copying: list[float] = []
    running: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        _make_tree(tree)
        engine.execute(ExecutionRequest(language=Language.PYTHON, source="print(1)"))
        for _ in range(rounds):
            copy = Path(temporary) / "copy"
            copying.append(milliseconds(lambda: run([found("cp"), "-r", tree, copy])) / 1e3)  # noqa: B023
            shutil.rmtree(copy)
            running.append(milliseconds(lambda: _run(engine, tree)) / 1e3)
    allowed = 2 * statistics.median(copying) + 1
    return Section(
        f"{FILES:,} files, {BYTES // MIB} MiB, {CHANGED:,} changed and written back",
        "s",
        [
            Row("cp -r", statistics.median(copying)),
            Row("nova: stage, run, plan, write back", statistics.median(running)),
            Row("aim: 2 x cp -r + 1 s", allowed),
        ],
    )


def _run(engine: Engine, tree: Path) -> None:
    result = engine.execute(
        ExecutionRequest(
            language=Language.PYTHON,
            source=_SOURCE,
            workspace=Workspace(path=tree),
            limits=Limits(timeout_s=120, memory_bytes=1024 * MIB),
        ),
        approve=lambda _plan: True,
    )
    if result.status is not Status.FINISHED or len(result.written) != CHANGED:
        raise RuntimeError(f"{result.status}, {len(result.written)} written: {result.stderr}")


def _make_tree(tree: Path) -> None:
    content = random.Random(1).randbytes(BYTES // FILES)
    for number in range(FILES):
        folder = tree / f"{number % 100:02d}"
        if number < 100:
            folder.mkdir(parents=True)
        (folder / f"file{number}.bin").write_bytes(number.to_bytes(4, "big") + content[4:])
