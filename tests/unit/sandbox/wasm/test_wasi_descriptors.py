from __future__ import annotations

import tracemalloc

import pytest

from nova_desktop.model import MIB, Stream
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.memfs_nodes import OBJECT_BYTES
from nova_desktop.sandbox.wasm.wasi_descriptors import (
    MAX_DESCRIPTORS,
    Descriptor,
    DescriptorTable,
    InputStream,
    OutputStream,
)


@pytest.fixture
def budget() -> MemoryBudget:
    return MemoryBudget(16 * MIB)


@pytest.fixture
def table(budget: MemoryBudget) -> DescriptorTable:
    return DescriptorTable(budget, MemoryFileSystem(budget))


def opened(table: DescriptorTable) -> int:
    fd = table.reserve()
    table.install(fd, Descriptor(InputStream(b""), 0b11))
    return fd


def test_descriptors_are_charged_while_they_are_open(
    table: DescriptorTable, budget: MemoryBudget
) -> None:
    fds = [opened(table) for _ in range(3)]
    assert budget.charged == 3 * OBJECT_BYTES
    table.close(fds[1])
    table.renumber(fds[0], fds[2])
    assert budget.charged == OBJECT_BYTES
    table.close(fds[2])
    assert budget.charged == 0


def test_a_reservation_can_be_given_back(table: DescriptorTable, budget: MemoryBudget) -> None:
    fd = table.reserve()
    assert fd not in table
    table.cancel(fd)
    assert budget.charged == 0
    assert table.reserve() == fd


def test_unknown_and_incapable_descriptors_are_told_apart(table: DescriptorTable) -> None:
    fd = opened(table)
    assert table.get(fd, 0b10).node.size == 0
    for number, rights, errno in ((fd, 0b100, Errno.NOTCAPABLE), (fd + 1, 0, Errno.BADF)):
        with pytest.raises(WasiError) as error:
            table.get(number, rights)
        assert error.value.errno == errno


def test_the_table_is_full_at_its_limit(table: DescriptorTable) -> None:
    for _ in range(MAX_DESCRIPTORS):
        opened(table)
    with pytest.raises(WasiError) as error:
        table.reserve()
    assert error.value.errno == Errno.MFILE


@pytest.mark.security
def test_opening_and_closing_for_ever_holds_nothing(table: DescriptorTable) -> None:
    tracemalloc.start()
    try:
        for _ in range(20_000):
            table.close(opened(table))
        held, _ = tracemalloc.get_traced_memory()
        fds = [opened(table) for _ in range(MAX_DESCRIPTORS)]
        held_open, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4096
    # Each test descriptor also holds its own node, which the file system would charge.
    assert held_open < 2 * len(fds) * OBJECT_BYTES


def test_a_nodes_descriptors_are_counted(table: DescriptorTable) -> None:
    node = InputStream(b"")
    for _ in range(2):
        table.install(table.reserve(), Descriptor(node, 0))
    assert node.opens == 2
    table.close(4)
    assert node.opens == 1


def test_input_is_read_from_any_position() -> None:
    stream = InputStream(b"abcdef")
    assert bytes(stream.read(2, 3)) == b"cde"
    assert bytes(stream.read(99, 3)) == b""
    assert (stream.left(2), stream.left(99)) == (4, 0)


def test_output_goes_to_the_callback_and_nothing_is_no_output() -> None:
    got: list[tuple[Stream, bytes]] = []
    stream = OutputStream(Stream.STDERR, lambda name, data: got.append((name, data)))
    stream.write(7, b"text")
    stream.write(0, b"")
    assert got == [(Stream.STDERR, b"text")]
