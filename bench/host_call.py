"""A brokered call from guest Python to the host and back, measured inside the guest."""

from __future__ import annotations

from bench.table import Row, Section
from nova_desktop.model import Cancellation, Language, Limits, Status
from nova_desktop.sandbox.wasm import MemoryBudget, WasmRuntime
from nova_desktop.sandbox.wasm.program import GuestProgram

_SOURCE = """
import time
from _nova import call
payload = bytes(SIZE)
for _ in range(COUNT // 10):
    call(payload)
start = time.perf_counter()
for _ in range(COUNT):
    call(payload)
print((time.perf_counter() - start) / COUNT * 1e6)
"""


def host_calls(runtime: WasmRuntime, *, quick: bool) -> Section:
    count = 2_000 if quick else 20_000
    rows = [
        Row(f"echo of {size:,} bytes", _microseconds(runtime, size, count))
        for size in (10, 1_000, 10_000)
    ]
    return Section("A host call from guest Python", "µs", rows)


def _microseconds(runtime: WasmRuntime, size: int, count: int) -> float:
    limits = Limits()
    budget = MemoryBudget(limits.memory_bytes)
    source = _SOURCE.replace("SIZE", str(size)).replace("COUNT", str(count))
    outcome = runtime.run(
        GuestProgram(language=Language.PYTHON, source=source),
        runtime.new_files(Language.PYTHON, budget),
        limits=limits,
        budget=budget,
        cancellation=Cancellation(),
        host_call=lambda request: request,
    )
    if outcome.status is not Status.FINISHED:
        raise RuntimeError(f"the echo failed in the guest: {outcome.stderr.decode()}")
    return float(outcome.stdout)
