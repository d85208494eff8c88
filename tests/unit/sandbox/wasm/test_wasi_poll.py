from __future__ import annotations

import threading
import time
from typing import NamedTuple

import pytest

from nova_desktop.model import Status
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.control import RunEnded
from nova_desktop.sandbox.wasm.errno import Errno
from tests.fakes.wasi_guest import MEMORY_BYTES, READ, READ_WRITE, Guest

IN, OUT, COUNT = 100_000, 200_000, 64
MS = 1_000_000
REALTIME, MONOTONIC = abi.ClockId.REALTIME, abi.ClockId.MONOTONIC


class Event(NamedTuple):
    userdata: int
    errno: int
    kind: int
    ready_bytes: int
    flags: int


@pytest.fixture
def guest() -> Guest:
    return Guest(stdin=b"abc")


def clock(timeout: int, *, userdata: int = 1, clock_id: int = MONOTONIC, flags: int = 0) -> bytes:
    return abi.SUBSCRIPTION.pack(userdata, abi.EventType.CLOCK, clock_id, timeout, 0, flags)


def descriptor(fd: int, kind: int = abi.EventType.FD_READ, *, userdata: int = 2) -> bytes:
    return abi.SUBSCRIPTION.pack(userdata, kind, fd, 0, 0, 0)


def poll(guest: Guest, *subscriptions: bytes) -> list[Event]:
    guest.memory.write(IN, b"".join(subscriptions))
    guest.ok("poll_oneoff", IN, OUT, len(subscriptions), COUNT)
    data = guest.memory.read(OUT, guest.u32(COUNT) * abi.EVENT.size)
    return [Event(*fields) for fields in abi.EVENT.iter_unpack(data)]


def test_a_sleep_lasts_as_long_as_asked(guest: Guest) -> None:
    start = time.monotonic()
    assert poll(guest, clock(20 * MS)) == [Event(1, 0, abi.EventType.CLOCK, 0, 0)]
    assert 0.02 <= time.monotonic() - start < 1


@pytest.mark.parametrize("clock_id", [REALTIME, MONOTONIC])
def test_a_zero_timeout_returns_at_once(guest: Guest, clock_id: int) -> None:
    start = time.monotonic()
    for _ in range(100):
        assert len(poll(guest, clock(0, clock_id=clock_id))) == 1
    assert time.monotonic() - start < 0.5


def test_only_the_clock_that_is_due_is_reported(guest: Guest) -> None:
    start = time.monotonic()
    events = poll(guest, clock(1000 * MS, userdata=1), clock(10 * MS, userdata=2))
    assert [event.userdata for event in events] == [2]
    assert 0.01 <= time.monotonic() - start < 0.9


def test_all_clocks_that_are_due_are_reported_in_order(guest: Guest) -> None:
    events = poll(guest, *(clock(0, userdata=i) for i in range(1024)))
    assert [event.userdata for event in events] == list(range(1024))


@pytest.mark.parametrize("clock_id", [REALTIME, MONOTONIC])
def test_an_absolute_time_is_waited_for(guest: Guest, clock_id: int) -> None:
    guest.ok("clock_time_get", clock_id, 0, COUNT)
    due = guest.u64(COUNT) + 20 * MS
    start = time.monotonic()
    events = poll(guest, clock(due, clock_id=clock_id, flags=abi.SUBCLOCK_ABSTIME))
    assert len(events) == 1
    assert 0.015 <= time.monotonic() - start < 1
    guest.ok("clock_time_get", clock_id, 0, COUNT)
    assert guest.u64(COUNT) >= due


def test_an_absolute_time_in_the_past_is_due_at_once(guest: Guest) -> None:
    start = time.monotonic()
    assert len(poll(guest, clock(5, clock_id=REALTIME, flags=abi.SUBCLOCK_ABSTIME))) == 1
    assert time.monotonic() - start < 0.5


def test_what_is_ready_is_reported_without_sleeping(guest: Guest) -> None:
    fd = guest.open(
        "work/f", oflags=abi.OFLAG_CREAT, rights=READ_WRITE | abi.RIGHT_POLL_FD_READWRITE
    )
    guest.write(fd, b"hello")
    guest.seek(fd, 2)
    start = time.monotonic()
    events = poll(
        guest,
        clock(3600 * 1000 * MS),
        descriptor(fd, userdata=10),
        descriptor(fd, abi.EventType.FD_WRITE, userdata=11),
        descriptor(0, userdata=12),
        descriptor(1, abi.EventType.FD_WRITE, userdata=13),
        clock(0, userdata=14),
    )
    assert time.monotonic() - start < 0.5
    assert events == [
        Event(10, 0, abi.EventType.FD_READ, 3, 0),
        Event(11, 0, abi.EventType.FD_WRITE, 0, 0),
        Event(12, 0, abi.EventType.FD_READ, 3, 0),
        Event(13, 0, abi.EventType.FD_WRITE, 0, 0),
        Event(14, 0, abi.EventType.CLOCK, 0, 0),
    ]


def test_standard_input_at_its_end_is_ready_and_hung_up(guest: Guest) -> None:
    guest.read(0, 100)
    assert poll(guest, descriptor(0)) == [Event(2, 0, abi.EventType.FD_READ, 0, abi.EVENT_HANGUP)]


def test_the_null_device_is_ready(guest: Guest) -> None:
    fd = guest.open("dev/null", rights=READ | abi.RIGHT_POLL_FD_READWRITE)
    assert poll(guest, descriptor(fd))[0].errno == 0


def test_a_wrong_subscription_is_an_event_with_an_error(guest: Guest) -> None:
    no_poll = guest.open("work", rights=abi.DIRECTORY_RIGHTS)
    cases = [
        (descriptor(99), Errno.BADF),
        (descriptor(0, abi.EventType.FD_WRITE), Errno.NOTCAPABLE),
        (descriptor(1), Errno.NOTCAPABLE),
        (descriptor(no_poll), Errno.NOTCAPABLE),
        (descriptor(0, 3), Errno.INVAL),
        (descriptor(0, 255), Errno.INVAL),
        (clock(9, clock_id=4), Errno.INVAL),
        (clock(9, flags=2), Errno.INVAL),
        (clock(9, clock_id=abi.ClockId.PROCESS_CPUTIME_ID), Errno.NOTSUP),
        (clock(9, clock_id=abi.ClockId.THREAD_CPUTIME_ID), Errno.NOTSUP),
    ]
    for subscription, errno in cases:
        assert [event.errno for event in poll(guest, subscription)] == [errno]
    assert len(poll(guest, *(subscription for subscription, _ in cases))) == len(cases)


def test_the_number_of_subscriptions_is_bounded(guest: Guest) -> None:
    for count in (0, 1025, 0xFFFF_FFFF):
        assert guest.call("poll_oneoff", IN, OUT, count, COUNT) == Errno.INVAL


def test_bad_pointers_are_found_before_sleeping(guest: Guest) -> None:
    guest.memory.write(IN, clock(3600 * 1000 * MS))
    start = time.monotonic()
    for arguments in (
        (MEMORY_BYTES - 47, OUT, 1, COUNT),
        (IN, MEMORY_BYTES - 31, 1, COUNT),
        (IN, OUT, 1, MEMORY_BYTES - 3),
        (0xFFFF_FFFF, OUT, 1, COUNT),
    ):
        assert guest.call("poll_oneoff", *arguments) == Errno.FAULT
    assert time.monotonic() - start < 0.5


def test_input_and_output_may_overlap(guest: Guest) -> None:
    guest.memory.write(IN, clock(0, userdata=1) + clock(0, userdata=2))
    guest.ok("poll_oneoff", IN, IN, 2, COUNT)
    assert guest.memory.read(IN, 8) == (1).to_bytes(8, "little")
    assert guest.memory.read(IN + 32, 8) == (2).to_bytes(8, "little")


@pytest.mark.security
def test_the_longest_list_of_subscriptions_takes_some_milliseconds(guest: Guest) -> None:
    start = time.thread_time()
    for _ in range(5):
        assert len(poll(guest, *[descriptor(99)] * 1023, clock(0))) == 1024
    assert time.thread_time() - start < 5 * 0.05


@pytest.mark.security
@pytest.mark.parametrize("timeout", [60_000 * MS, (1 << 64) - 1])
def test_a_sleep_ends_at_the_deadline(timeout: int) -> None:
    guest = Guest(timeout_s=0.1)
    start = time.monotonic()
    with pytest.raises(RunEnded) as ended:
        poll(guest, clock(timeout))
    assert time.monotonic() - start < 1
    assert ended.value.status is Status.TIMED_OUT


@pytest.mark.security
def test_a_sleep_ends_when_the_run_is_stopped(guest: Guest) -> None:
    timer = threading.Timer(0.1, guest.cancellation.request)
    timer.start()
    start = time.monotonic()
    with pytest.raises(RunEnded) as ended:
        poll(guest, clock((1 << 64) - 1))
    assert time.monotonic() - start < 1
    assert ended.value.status is Status.STOPPED
    timer.join()
