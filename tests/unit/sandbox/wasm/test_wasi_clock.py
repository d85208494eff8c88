from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.wasi_abi import ClockId
from nova_desktop.sandbox.wasm.wasi_clock import MONOTONIC_START_NS, GuestClock

MS = 1_000_000


@pytest.mark.parametrize("resolution_ns", [1, 1000, MS])
@pytest.mark.parametrize("clock_id", list(ClockId))
def test_no_clock_is_finer_than_its_resolution(resolution_ns: int, clock_id: int) -> None:
    clock = GuestClock(resolution_ns)
    assert all(clock.now(clock_id) % resolution_ns == 0 for _ in range(1000))


def test_the_resolution_is_never_zero() -> None:
    assert GuestClock(0).resolution_ns == 1


def test_realtime_is_the_time_of_day() -> None:
    before = time.time_ns()
    now = GuestClock(1000).realtime()
    assert before - 1000 < now <= time.time_ns()


def test_monotonic_advances_and_does_not_tell_the_uptime() -> None:
    clock = GuestClock(1000)
    first = clock.monotonic()
    assert 0 <= first - MONOTONIC_START_NS < 10**9
    time.sleep(0.01)
    assert clock.monotonic() - first >= 10 * MS - 1000


def test_the_monotonic_clock_goes_on_where_the_snapshots_stood() -> None:
    recipe = Path(__file__).parents[4] / "runtime/nova-wasm/recipe/fixed_world.py"
    found = re.search(r"^FIXED_TIME_NS = ([\d_]+) \* 10\*\*9$", recipe.read_text(), re.MULTILINE)
    assert found
    assert int(found[1]) * 10**9 == MONOTONIC_START_NS


def test_cpu_time_counts_work_and_not_sleep() -> None:
    clock = GuestClock(1000)
    assert clock.now(ClockId.PROCESS_CPUTIME_ID) == 0
    time.sleep(0.05)
    slept = clock.now(ClockId.THREAD_CPUTIME_ID)
    assert slept < 25 * MS
    while clock.cpu_time() < slept + 5 * MS:
        pass


@pytest.mark.security
def test_cpu_time_does_not_tell_what_other_runs_do() -> None:
    clock = GuestClock(1000)
    clock.cpu_time()

    def other_run() -> None:
        until = time.thread_time() + 0.1
        while time.thread_time() < until:
            pass

    process_before = time.process_time()
    thread = threading.Thread(target=other_run)
    thread.start()
    thread.join()
    assert time.process_time() - process_before >= 0.1  # what it would tell
    assert clock.cpu_time() < 50 * MS


def test_an_unknown_clock_is_invalid() -> None:
    for clock_id in (4, 0xFFFF_FFFF):
        with pytest.raises(WasiError) as error:
            GuestClock(1).now(clock_id)
        assert error.value.errno == Errno.INVAL
