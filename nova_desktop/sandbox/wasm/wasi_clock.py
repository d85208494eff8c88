"""The guest's clocks: what it can learn of the time, no finer than its limit."""

from __future__ import annotations

import time

from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.wasi_abi import ClockId

MONOTONIC_START_NS = 1_700_000_000 * 10**9
"""Value of the monotonic clock when a run begins: where the clock stood while the snapshots were
made. wasi-libc's ``clock`` (``time.process_time`` in Python) counts from a value that it read at
start-up, so it lies in the snapshot, and would be negative in a run that began lower. The
host's own monotonic clock would also tell its uptime."""


class GuestClock:
    """The four clocks of one run, rounded down to a resolution.

    A guest's process is one thread of ours, so its process and thread CPU time are that
    thread's, counted from the first time the guest asks: the time of our process would tell one
    run what the others do.
    """

    __slots__ = ("_cpu_origin_ns", "_monotonic_origin_ns", "resolution_ns")

    def __init__(self, resolution_ns: int) -> None:
        self.resolution_ns = max(1, resolution_ns)
        self._monotonic_origin_ns = time.monotonic_ns() - MONOTONIC_START_NS
        self._cpu_origin_ns: int | None = None

    def realtime(self) -> int:
        return self._rounded(time.time_ns())

    def monotonic(self) -> int:
        return self._rounded(time.monotonic_ns() - self._monotonic_origin_ns)

    def cpu_time(self) -> int:
        now_ns = time.thread_time_ns()
        if self._cpu_origin_ns is None:
            self._cpu_origin_ns = now_ns
        return self._rounded(now_ns - self._cpu_origin_ns)

    def now(self, clock_id: int) -> int:
        """Raises:
        WasiError: INVAL for an unknown clock.
        """
        if clock_id == ClockId.MONOTONIC:
            return self.monotonic()
        if clock_id == ClockId.REALTIME:
            return self.realtime()
        if clock_id in (ClockId.PROCESS_CPUTIME_ID, ClockId.THREAD_CPUTIME_ID):
            return self.cpu_time()
        raise WasiError(Errno.INVAL)

    def _rounded(self, value_ns: int) -> int:
        return value_ns - value_ns % self.resolution_ns
