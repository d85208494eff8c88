from __future__ import annotations

import threading
import time

import pytest

from nova_desktop.model import Cancellation, Status
from nova_desktop.sandbox.wasm.control import RunControl, RunEnded

pytestmark = pytest.mark.security


def started(timeout_s: float) -> RunControl:
    control = RunControl(timeout_s, Cancellation())
    control.start()
    return control


def test_waiting_in_a_queue_does_not_count() -> None:
    control = RunControl(0.01, Cancellation())
    time.sleep(0.03)
    control.check()
    control.start()
    assert 0 < control.left() <= 0.01
    assert not control.over()


def test_after_the_deadline_every_look_ends_the_run() -> None:
    control = started(0.0)
    assert control.over()
    with pytest.raises(RunEnded, match="limit of 0 s") as ended:
        control.check()
    assert (ended.value.status, ended.value.code) == (Status.TIMED_OUT, "run.timed_out")


def test_a_request_to_stop_is_told_apart_from_the_deadline() -> None:
    control = started(0.0)
    control.cancellation.request()
    with pytest.raises(RunEnded) as ended:
        control.check()
    assert (ended.value.status, ended.value.code) == (Status.STOPPED, "run.stopped")


def test_a_sleep_within_the_time_is_slept_in_full() -> None:
    control = started(10)
    begun = time.monotonic()
    control.sleep(0.05)
    assert time.monotonic() - begun >= 0.05


@pytest.mark.parametrize("seconds", [60.0, float("inf")])
def test_a_sleep_ends_at_the_deadline(seconds: float) -> None:
    control = started(0.05)
    begun = time.monotonic()
    with pytest.raises(RunEnded):
        control.sleep(seconds)
    assert 0.04 <= time.monotonic() - begun < 1


def test_a_sleep_ends_within_100_ms_of_a_request_to_stop() -> None:
    control = started(60)
    requested: list[float] = []

    def stop() -> None:
        requested.append(time.monotonic())
        control.cancellation.request()

    threading.Timer(0.05, stop).start()
    with pytest.raises(RunEnded) as ended:
        control.sleep(60)
    assert ended.value.status is Status.STOPPED
    assert time.monotonic() - requested[0] < 0.1


def test_a_negative_sleep_returns_at_once() -> None:
    started(60).sleep(-1)
