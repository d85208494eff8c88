"""What the host's own allocator keeps of freed memory, and how it is made to give it back.

A freed piece goes back to the system only when nothing that is still used lies behind it. A guest
that keeps every sixteenth small piece of a file, gives back the rest and then writes large pieces
would make the host hold twice what its budget says.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

GIVE_BACK_EVERY_BYTES = 32 << 20
"""Freed bytes after which it is done: some 0.2 ms for each megabyte."""


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """malloc_trim(3); only glibc has it, and keeps memory in this way."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> None:
    """Return whole free pages to the system, wherever in the heap they lie."""
    trim = _trim()
    if trim is not None:
        trim(0)
