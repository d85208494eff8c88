from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

from nova_desktop.model import MIB
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.host_heap import give_back
from nova_desktop.sandbox.wasm.memfs_nodes import CHUNK_BYTES, OBJECT_BYTES, RegularFile


def test_it_may_be_called_anywhere_at_any_time() -> None:
    give_back()
    give_back()


@pytest.mark.security
@pytest.mark.skipif(
    os.name != "posix" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only with glibc"
)
def test_holes_in_the_heap_do_not_double_what_the_host_holds() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    budget = MemoryBudget(200 * MIB)
    keep, drop, big = (RegularFile(1, 0, 0o644, budget) for _ in range(3))
    give_back()
    before = resident()
    for index in range(40_000):
        (drop if index % 16 else keep).write((index + 1) * CHUNK_BYTES, b"x")
    drop.truncate(0)
    room = budget.total - budget.charged
    for index in range(room // (CHUNK_BYTES + OBJECT_BYTES)):
        big.write(index * CHUNK_BYTES, b"y" * CHUNK_BYTES)
    assert resident() - before < 260 * MIB  # 370 with the holes
