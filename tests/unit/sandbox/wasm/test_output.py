from __future__ import annotations

import itertools
import random

import pytest

from nova_desktop.model import KIB, MIB, Limits, Status, Stream
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import RunEnded
from nova_desktop.sandbox.wasm.output import OutputCapture, StreamBuffer


def expected(data: bytes, limit: int) -> tuple[bytes, int]:
    if len(data) <= limit:
        return data, 0
    return data[: limit // 2] + data[len(data) - (limit - limit // 2) :], len(data) - limit


@pytest.mark.parametrize("limit", [0, 1, 2, 7, 100, 200 * KIB, 1 * MIB])
def test_head_and_tail_are_kept_and_the_rest_is_counted(limit: int) -> None:
    dice = random.Random(limit)
    budget = MemoryBudget(64 * MIB)
    buffer = StreamBuffer(limit, budget)
    data = bytearray()
    for number in itertools.count():
        piece = f"{number},".encode() * dice.choice([0, 1, 3, 50, 20_000])
        data += piece
        buffer.write(piece)
        if number > 40 and len(data) > 3 * limit:
            break
    assert (buffer.content(), buffer.dropped) == expected(bytes(data), limit)
    assert len(buffer.content()) <= budget.charged <= limit
    buffer.close()
    assert budget.charged == 0


def test_output_within_the_limit_is_whole() -> None:
    buffer = StreamBuffer(100, MemoryBudget(MIB))
    buffer.write(b"a" * 50)
    buffer.write(b"b" * 50)
    assert (buffer.content(), buffer.dropped) == (b"a" * 50 + b"b" * 50, 0)


def test_full_budget_keeps_the_newest_output_instead_of_ending_the_run() -> None:
    budget = MemoryBudget(100 * KIB)
    buffer = StreamBuffer(MIB, budget)
    budget.charge(100 * KIB - budget.charged)
    buffer.write(b"x" * 200 * KIB)
    buffer.write(b"Traceback: MemoryError")
    assert buffer.content().startswith(b"xxx")
    assert buffer.content().endswith(b"Traceback: MemoryError")
    assert len(buffer.content()) <= 32 * KIB
    assert budget.exceeded
    assert buffer.dropped == 200 * KIB + 22 - len(buffer.content())


def test_budget_without_room_for_any_output_is_told_at_once() -> None:
    budget = MemoryBudget(40 * KIB)
    with pytest.raises(BudgetExceeded):
        OutputCapture(Limits(), budget, None)
    assert budget.charged == 0


def test_a_flood_of_single_bytes_holds_no_more_than_it_is_charged() -> None:
    budget = MemoryBudget(64 * MIB)
    buffer = StreamBuffer(64 * KIB, budget)
    for _ in range(200_000):
        buffer.write(b"y")
    assert budget.charged <= 64 * KIB
    assert buffer.dropped == 200_000 - 64 * KIB


def test_streams_are_kept_apart_and_streamed_in_order() -> None:
    seen: list[tuple[Stream, bytes]] = []
    capture = OutputCapture(
        Limits(), MemoryBudget(MIB), lambda stream, data: seen.append((stream, data))
    )
    capture.write(Stream.STDOUT, b"1")
    capture.write(Stream.STDERR, b"2")
    capture.write(Stream.STDOUT, b"3")
    assert (capture.stdout.content(), capture.stderr.content()) == (b"13", b"2")
    assert seen == [(Stream.STDOUT, b"1"), (Stream.STDERR, b"2"), (Stream.STDOUT, b"3")]


def test_more_than_the_total_ends_the_run_and_what_fits_is_kept() -> None:
    capture = OutputCapture(Limits(output_total_bytes=10), MemoryBudget(MIB), None)
    capture.write(Stream.STDOUT, b"123456")
    with pytest.raises(RunEnded) as ended:
        capture.write(Stream.STDERR, b"78901234")
    assert (ended.value.status, ended.value.code) == (Status.LIMIT, "run.output_limit")
    assert (capture.stdout.content(), capture.stderr.content()) == (b"123456", b"7890")


def test_exactly_the_total_is_allowed() -> None:
    capture = OutputCapture(Limits(output_total_bytes=10), MemoryBudget(MIB), None)
    capture.write(Stream.STDOUT, b"1234567890")
    assert capture.stdout.content() == b"1234567890"
