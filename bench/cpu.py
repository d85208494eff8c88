"""CPU-bound programs: guest Python against the machine's own Python, in turns."""

from __future__ import annotations

import statistics
from pathlib import Path

from bench.table import Row, Section
from bench.tools import native_python, native_version, run
from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import Language, Status

PROGRAMS = (
    *("fib", "loops", "dicts", "json_text", "nbody", "strings", "regex", "sorting", "methods"),
    *("comprehensions", "big_integers"),
)
FOLDER = Path(__file__).parent / "programs"

# Each times itself, so that no start is counted. The first of three calls warms up: specialised
# bytecode, and in the guest the first touch of each memory page.
_TIMED = """

import time as _time
work()
_start = _time.perf_counter()
work()
work()
print((_time.perf_counter() - _start) / 2 * 1000)
"""


def cpu_bound(engine: Engine, *, quick: bool) -> Section:
    rounds = 3 if quick else 11
    rows = []
    ratios = []
    for name in PROGRAMS:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8") + _TIMED
        guest: list[float] = []
        native: list[float] = []
        for _ in range(rounds):
            guest.append(_guest(engine, source))
            native.append(float(run([native_python(), "-I", "-c", source])))
        ratio = statistics.median(guest) / statistics.median(native)
        ratios.append(ratio)
        note = f"({statistics.median(guest):.1f} ms, native {statistics.median(native):.1f} ms)"
        rows.append(Row(name, ratio, note))
    rows.append(Row("geometric mean", statistics.geometric_mean(ratios)))
    remark = f"Native is {native_version()}. Interruption checks are on in the guest."
    return Section("CPU-bound Python, guest / native", "x", rows, remarks=[remark])


def _guest(engine: Engine, source: str) -> float:
    result = engine.execute(ExecutionRequest(language=Language.PYTHON, source=source))
    if result.status is not Status.FINISHED:
        raise RuntimeError(f"a benchmark failed in the guest:\n{result.stderr}")
    return float(result.stdout)
