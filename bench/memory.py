"""What runs leave behind in the process, and what a started instance holds."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.table import Row, Section
from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import Cancellation, Language, Stream

MIB = 1 << 20


def memory(engine: Engine, *, quick: bool) -> Section:
    if not Path("/proc/self/smaps_rollup").exists():
        return Section("Memory", "MiB", [Row("resident memory", None, "needs Linux's /proc")])
    runs = 200 if quick else 1_000
    request = ExecutionRequest(language=Language.PYTHON, source="print(sum(range(1000)))")
    for _ in range(10):
        engine.execute(request)
    after_ten = _kept("Rss")
    for _ in range(runs):
        engine.execute(request)
    one_by_one = _kept("Rss")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: engine.execute(request), range(runs)))
    eight_at_a_time = _kept("Rss")
    return Section(
        "Memory",
        "MiB",
        [
            Row("resident after ten runs", after_ten),
            Row(f"growth after {runs:,} runs", one_by_one - after_ten),
            Row(f"growth after {runs:,} more, 8 at a time", eight_at_a_time - after_ten),
            Row("private memory of a started, waiting instance", _waiting_instance(engine)),
        ],
    )


def _waiting_instance(engine: Engine) -> float:
    """Of each of several programs that printed a line and now sleep."""
    # More than the cores would queue, and a queued run has no instance.
    count = min(4, os.cpu_count() or 1)
    cancellation = Cancellation()
    started = threading.Semaphore(0)

    def on_output(_stream: Stream, _data: bytes) -> None:
        started.release()

    source = "print('ready', flush=True)\nimport time\ntime.sleep(60)"
    request = ExecutionRequest(language=Language.PYTHON, source=source)
    # Pages of the snapshot that are only read are shared by all instances; copied ones are not.
    before = _kept("Anonymous")
    with ThreadPoolExecutor(count) as pool:
        for _ in range(count):
            pool.submit(engine.execute, request, on_output=on_output, cancellation=cancellation)
        try:
            if not all(started.acquire(timeout=30) for _ in range(count)):
                raise RuntimeError("an instance did not start within 30 s")
            during = _kept("Anonymous")
        finally:
            cancellation.request()
    return (during - before) / count


def _kept(field: str) -> float:
    """MiB of this process, after the garbage was collected."""
    import gc

    gc.collect()
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"the kernel does not tell {field}")
