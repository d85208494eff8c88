"""The descriptors of one run, and the standard streams that three of them refer to."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Final

from nova_desktop.model import Stream
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.memfs_nodes import OBJECT_BYTES, Directory, Node

MAX_DESCRIPTORS: Final = 4096

FIRST_FREE_DESCRIPTOR: Final = 4
"""0-2 are the standard streams and 3 is ``/``. The guests' snapshots rely on 3."""


class InputStream(Node):
    """Standard input: bytes that were given before the run. Without any, it is at its end."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        super().__init__(0, 0, 0)
        self._data = data

    def read(self, offset: int, length: int, /) -> memoryview:
        return memoryview(self._data)[offset : offset + length]

    def left(self, offset: int) -> int:
        return max(0, len(self._data) - offset)


class OutputStream(Node):
    """Standard output or error.

    Its file type is "unknown", as that of a pipe: only a character device that cannot seek is a
    terminal to the guest's C library, and a terminal would mean a write for every line.
    """

    __slots__ = ("_output", "_stream")

    def __init__(self, stream: Stream, output: Callable[[Stream, bytes], None]) -> None:
        super().__init__(0, 0, 0)
        self._stream = stream
        self._output = output

    def write(self, _offset: int, data: bytes, /) -> None:
        if data:
            self._output(self._stream, data)


class Descriptor:
    __slots__ = ("flags", "inheriting", "listed_before", "node", "offset", "preopened", "rights")

    def __init__(
        self,
        node: Node,
        rights: int,
        inheriting: int = 0,
        flags: int = 0,
        preopened: bytes | None = None,
    ) -> None:
        self.node = node
        self.rights = rights
        self.inheriting = inheriting
        self.flags = flags
        self.offset = 0
        self.preopened = preopened
        """Name under which the guest was given it from the start."""
        self.listed_before = node.next_serial if isinstance(node, Directory) else 0
        """Names made after the descriptor began to read its directory are not listed: a loop
        that renames what it finds would not end."""


class DescriptorTable:
    """Descriptors by number; the lowest free number is given out first."""

    __slots__ = ("_budget", "_files", "_free", "_open", "_reserved")

    def __init__(self, budget: MemoryBudget, files: MemoryFileSystem) -> None:
        self._budget = budget
        self._files = files
        self._open: dict[int, Descriptor] = {}
        self._free: list[int] = []
        """A heap of the numbers below ``_reserved`` that are not open."""
        self._reserved = FIRST_FREE_DESCRIPTOR

    def get(self, fd: int, rights: int = 0) -> Descriptor:
        """Raises:
        WasiError: BADF; NOTCAPABLE when the descriptor lacks one of ``rights``.
        """
        descriptor = self._open.get(fd)
        if descriptor is None:
            raise WasiError(Errno.BADF)
        if rights & ~descriptor.rights:
            raise WasiError(Errno.NOTCAPABLE)
        return descriptor

    def __contains__(self, fd: int) -> bool:
        return fd in self._open

    def preopen(self, fd: int, descriptor: Descriptor) -> None:
        """One that the guest starts with.

        Raises:
            BudgetExceeded
        """
        self._budget.charge(OBJECT_BYTES)
        self.install(fd, descriptor)

    def reserve(self) -> int:
        """A free number, charged for; give it to ``install`` or ``cancel``.

        Raises:
            WasiError: MFILE.
        """
        if len(self._open) >= MAX_DESCRIPTORS:
            raise WasiError(Errno.MFILE)
        try:
            self._budget.charge(OBJECT_BYTES)
        except BudgetExceeded:
            raise WasiError(Errno.MFILE) from None
        if self._free:
            return heapq.heappop(self._free)
        self._reserved += 1
        return self._reserved - 1

    def install(self, fd: int, descriptor: Descriptor) -> None:
        self._files.hold(descriptor.node)
        self._open[fd] = descriptor

    def cancel(self, fd: int) -> None:
        self._budget.release(OBJECT_BYTES)
        heapq.heappush(self._free, fd)

    def close(self, fd: int) -> None:
        """Raises:
        WasiError: BADF.
        """
        self._forget(self.get(fd))
        del self._open[fd]
        heapq.heappush(self._free, fd)

    def renumber(self, fd: int, to: int) -> None:
        """``to`` refers to what ``fd`` did, ``fd`` to nothing. Both must be open.

        Raises:
            WasiError: BADF.
        """
        moved, replaced = self.get(fd), self.get(to)
        if fd == to:
            return
        self._forget(replaced)
        self._open[to] = moved
        del self._open[fd]
        heapq.heappush(self._free, fd)

    def _forget(self, descriptor: Descriptor) -> None:
        self._files.let_go(descriptor.node)
        self._budget.release(OBJECT_BYTES)
