from __future__ import annotations

import random
import tracemalloc

import pytest

from nova_desktop.model import KIB, MIB
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.memfs_nodes import (
    CHUNK_BYTES,
    MAX_FILE_BYTES,
    OBJECT_BYTES,
    Directory,
    NullDevice,
    RegularFile,
)

# Files


def new_file(base: bytes = b"", total: int = 64 * MIB) -> tuple[RegularFile, MemoryBudget]:
    budget = MemoryBudget(total)
    budget.charge(OBJECT_BYTES + len(base))
    return RegularFile(1, 0, 0o644, budget, base=base), budget


@pytest.mark.parametrize("seed", range(60))
def test_a_file_behaves_as_an_array_of_bytes(seed: int) -> None:
    """Random reads, writes and truncations around the borders of chunks, over a base."""
    chance = random.Random(seed)
    model = bytearray(chance.randbytes(chance.choice([0, 10, CHUNK_BYTES, 150_000])))
    file, budget = new_file(bytes(model))
    places = [0, 1, 10, 2 * CHUNK_BYTES - 1, *range(CHUNK_BYTES - 2, CHUNK_BYTES + 3), 150_000]
    for _ in range(60):
        offset = chance.choice([*places, max(0, len(model) - 1), len(model), 200_000])
        length = chance.choice([0, 1, 2, 100, CHUNK_BYTES, 100_000])
        action = chance.choice(["write", "write", "truncate", "read"])
        if action == "write":
            data = chance.randbytes(length)
            file.write(offset, data)
            if data:
                model.extend(bytes(max(0, offset - len(model))))
                model[offset : offset + length] = data
        elif action == "truncate":
            file.truncate(offset)
            del model[offset:]
            model.extend(bytes(offset - len(model)))
        assert bytes(file.read(offset, length)) == model[offset : offset + length]
        assert file.size == len(model)
    assert bytes(file.read(0, file.size)) == model
    whole = bytearray(file.size)
    for at, piece in file.extents():
        whole[at : at + len(piece)] = piece
    assert whole == model
    assert budget.charged <= len(model) * 2 + 150_000 + 5 * (CHUNK_BYTES + OBJECT_BYTES)
    file.discard()
    assert budget.charged == 0


def test_a_hole_costs_nothing() -> None:
    file, budget = new_file()
    file.truncate(MAX_FILE_BYTES)
    assert budget.charged == OBJECT_BYTES
    assert bytes(file.read(MAX_FILE_BYTES // 2, 100)) == bytes(100)
    assert bytes(file.read(MAX_FILE_BYTES - 1, 100)) == b"\0"
    assert list(file.extents()) == []


def test_the_largest_size() -> None:
    file, _ = new_file()
    with pytest.raises(WasiError) as error:
        file.truncate(MAX_FILE_BYTES + 1)
    assert error.value.errno == Errno.FBIG
    with pytest.raises(WasiError) as error:
        file.write(1 << 62, b"x")
    assert error.value.errno == Errno.FBIG
    assert (file.size, file.changed) == (0, False)


def test_writing_one_byte_copies_one_chunk_of_the_base() -> None:
    file, budget = new_file(bytes(10 * MIB))
    before = budget.charged
    file.write(5 * MIB, b"x")
    assert budget.charged - before == OBJECT_BYTES + CHUNK_BYTES


def test_emptying_a_file_gives_its_base_back() -> None:
    file, budget = new_file(bytes(MIB))
    file.truncate(0)
    assert budget.charged == OBJECT_BYTES
    file.truncate(10)
    assert bytes(file.read(0, 10)) == bytes(10)


def test_a_write_that_has_no_room_changes_nothing() -> None:
    file, budget = new_file(b"abc", total=200 * KIB)
    before = budget.charged
    with pytest.raises(BudgetExceeded):
        file.write(1, bytes(200 * KIB))
    assert budget.charged == before
    assert bytes(file.read(0, 10)) == b"abc"
    assert not file.changed


def test_only_a_change_is_a_change() -> None:
    file, _ = new_file(b"abc")
    file.read(0, 3)
    file.write(0, b"")
    file.truncate(3)
    assert not file.changed
    file.truncate(2)
    assert file.changed


@pytest.mark.security
@pytest.mark.parametrize(
    ("count", "size", "step"), [(400, 1, CHUNK_BYTES), (2000, 100, 100), (100, 4096, 5000)]
)
def test_what_a_file_holds_is_what_it_is_charged(count: int, size: int, step: int) -> None:
    file, budget = new_file()
    data = b"x" * size
    tracemalloc.start()
    try:
        for i in range(count):
            file.write(i * step, data)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= budget.charged


@pytest.mark.security
def test_cutting_a_file_really_frees_its_memory() -> None:
    file, budget = new_file()
    tracemalloc.start()
    try:
        for i in range(100):
            file.write(i * CHUNK_BYTES, bytes(CHUNK_BYTES))
        file.truncate(100)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * KIB
    assert budget.charged == 2 * OBJECT_BYTES + 100


def test_a_device_is_empty_and_swallows() -> None:
    device = NullDevice(1, 0, 0o666)
    device.write(0, b"gone")
    assert device.read(0, 10) == b""


# Directories


def directory(parent: Directory | None = None) -> Directory:
    return Directory(1, 0, 0o755, parent, writable=True)


def names(folder: Directory, cookie: int = 2, before: int = 1 << 40) -> list[bytes]:
    return [name for _, name, _ in folder.listing(cookie, before)]


def test_a_directory_has_no_content() -> None:
    for attempt in (lambda: directory().read(0, 1), lambda: directory().write(0, b"x")):
        with pytest.raises(WasiError) as error:
            attempt()
        assert error.value.errno == Errno.INVAL


def test_a_listing_is_in_order_of_making_and_bounded() -> None:
    folder = directory()
    for name in (b"c", b"a", b"b"):
        folder.add(name, new_file()[0])
    mark = folder.next_serial
    folder.add(b"later", new_file()[0])
    assert names(folder, 0) == [b".", b"..", b"c", b"a", b"b", b"later"]
    assert names(folder, before=mark) == [b"c", b"a", b"b"]
    folder.remove(b"a")
    assert names(folder) == [b"c", b"b", b"later"]


def test_a_replaced_name_keeps_its_place() -> None:
    folder = directory()
    for name in (b"a", b"b"):
        folder.add(name, new_file()[0])
    other = new_file()[0]
    folder.replace(b"a", other)
    assert names(folder) == [b"a", b"b"]
    assert folder.get(b"a") is other


@pytest.mark.security
def test_making_and_removing_names_for_ever_holds_no_more_than_the_names_there() -> None:
    folder = directory()
    node = new_file()[0]
    for i in range(10):
        folder.add(b"kept %d" % i, node)
    tracemalloc.start()
    try:
        for i in range(20_000):
            folder.add(b"n" * 200 + b"%d" % i, node)
            folder.remove(b"n" * 200 + b"%d" % i)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 32 * KIB
    assert len(names(folder)) == 10


@pytest.mark.security
def test_what_was_emptied_holds_no_room_that_nobody_is_charged_for() -> None:
    node = new_file()[0]
    file = new_file(total=200 * MIB)[0]
    tracemalloc.start()
    try:
        emptied = [directory() for _ in range(5)]
        for folder in emptied:
            for i in range(5000):
                folder.add(b"%d" % i, node)
            for i in range(5000):
                folder.remove(b"%d" % i)
        held, _ = tracemalloc.get_traced_memory()
        for index in range(30_000):
            file.write(index * CHUNK_BYTES, b"x")
        file.truncate(0)
        held_by_file = tracemalloc.get_traced_memory()[0] - held
    finally:
        tracemalloc.stop()
    assert held < 5 * 16 * KIB
    assert held_by_file < 32 * KIB


def test_reading_on_is_as_quick_in_a_large_directory() -> None:
    """A call reads from its cookie on and does not walk what was read before."""
    folder = directory()
    node = new_file()[0]
    for i in range(50_000):
        folder.add(b"%d" % i, node)
    steps, cookie = 0, 0
    while True:
        part = [next_cookie for next_cookie, _, _ in first(folder, cookie, 50)]
        if not part:
            break
        cookie = part[-1]
        steps += len(part)
    assert steps == 50_002


def first(folder: Directory, cookie: int, count: int) -> list[tuple[int, bytes, object]]:
    return [entry for _, entry in zip(range(count), folder.listing(cookie, 1 << 40), strict=False)]


def test_depth_height_and_containment() -> None:
    root = directory()
    a, b, c = directory(root), directory(), directory()
    root.add(b"a", a)
    a.add(b"b", b)
    b.add(b"c", c)
    assert [folder.depth() for folder in (root, a, b, c)] == [0, 1, 2, 3]
    assert [folder.height for folder in (root, a, b, c)] == [3, 2, 1, 0]
    assert a.contains(c)
    assert a.contains(a)
    assert not c.contains(a)
    assert root.nlink == a.nlink == b.nlink == 3
    b.remove(b"c")
    assert b.nlink == 2
