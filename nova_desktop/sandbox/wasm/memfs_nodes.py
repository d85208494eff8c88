"""The nodes of the guest's file system: regular files, directories and ``/dev/null``.

Every object that a guest can make the host keep costs ``OBJECT_BYTES`` of its memory budget,
plus the bytes that are really held. That is more than CPython spends on the objects, so the
budget bounds what the process holds and not only what the guest sees.
"""

from __future__ import annotations

import bisect
import weakref
from collections.abc import Iterator
from operator import attrgetter
from typing import ClassVar

from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.wasi_abi import FileType

OBJECT_BYTES = 512
"""Charge of each file, directory, name, descriptor and chunk."""
CHUNK_BYTES = 1 << 16
"""Files are kept in pieces of this size; a piece that was never written does not exist."""
MAX_FILE_BYTES = 1 << 40
MAX_DEPTH = 64
"""Components of the longest path from ``/``."""

_SMALL_CHUNK_BYTES = 1 << 12
"""Least size of a chunk that is not a file's first. It bounds the number of chunks that fit
into a budget, and so the time in which a sparse file is truncated."""


class Node:
    """What ``filestat`` tells, and who still holds the node."""

    __slots__ = ("atime_ns", "ctime_ns", "inode", "mode", "mtime_ns", "nlink", "opens", "staged_as")

    filetype: ClassVar[FileType] = FileType.UNKNOWN
    size = 0
    writable = False

    def __init__(self, inode: int, now_ns: int, mode: int) -> None:
        self.inode = inode
        self.atime_ns = self.mtime_ns = self.ctime_ns = now_ns
        self.mode = mode
        """Permission bits of the staged original; a WASI guest can neither see nor set them."""
        self.nlink = 1
        self.opens = 0
        """Descriptors that refer to the node."""
        self.staged_as: str | None = None
        """Path under ``/work`` by which the host staged it, whatever it is called now."""

    def touch(self, now_ns: int) -> None:
        """The content was changed."""
        self.mtime_ns = self.ctime_ns = now_ns

    def read(self, _offset: int, _length: int, /) -> bytes | bytearray | memoryview:
        """Up to ``_length`` bytes from ``_offset``; fewer only at the end.

        Raises:
            WasiError: INVAL; a node of this kind has no content.
        """
        raise WasiError(Errno.INVAL)

    def write(self, _offset: int, _data: bytes, /) -> None:
        """All of ``_data`` or nothing.

        Raises:
            WasiError: INVAL; a node of this kind cannot be written.
        """
        raise WasiError(Errno.INVAL)


class NullDevice(Node):
    """``/dev/null``."""

    __slots__ = ()
    filetype = FileType.CHARACTER_DEVICE

    def read(self, _offset: int, _length: int, /) -> bytes:
        return b""

    def write(self, _offset: int, _data: bytes, /) -> None:
        pass


class RegularFile(Node):
    """Bytes in chunks, over an optional immutable base that is never copied as a whole.

    Invariant: all held bytes at or after ``size`` are zero, so that a file which grows again
    shows zeros and not what was there before.
    """

    __slots__ = ("_base", "_base_end", "_budget", "_chunks", "_held", "changed", "size", "writable")

    filetype = FileType.REGULAR_FILE

    def __init__(
        self,
        inode: int,
        now_ns: int,
        mode: int,
        budget: MemoryBudget,
        *,
        base: bytes = b"",
        writable: bool = True,
    ) -> None:
        """The caller has charged ``OBJECT_BYTES + len(base)`` for a writable file; a read-only
        one is shared by all runs and costs nothing."""
        super().__init__(inode, now_ns, mode)
        self.size = len(base)
        self.writable = writable
        self.changed = False
        """True once content or size was written."""
        self._budget = budget
        self._base = base
        self._base_end = len(base)
        """End of the part of the base that still shows where no chunk lies over it."""
        self._chunks: dict[int, bytearray] = {}
        self._held = OBJECT_BYTES + len(base) if writable else 0

    def read(self, offset: int, length: int, /) -> bytes | bytearray | memoryview:
        end = min(offset + length, self.size)
        if offset >= end:
            return b""
        if not self._chunks and end <= self._base_end:
            return memoryview(self._base)[offset:end]
        first, last = offset // CHUNK_BYTES, (end - 1) // CHUNK_BYTES
        if first == last:
            at = first * CHUNK_BYTES
            return self._piece(first, offset - at, end - at)
        return b"".join(
            self._piece(
                index,
                max(offset - index * CHUNK_BYTES, 0),
                min(end - index * CHUNK_BYTES, CHUNK_BYTES),
            )
            for index in range(first, last + 1)
        )

    def extents(self) -> Iterator[tuple[int, bytes | bytearray | memoryview]]:
        """``(offset, bytes)`` of what is not a hole, ascending, at most a chunk each.

        The file must not change while this is read.
        """
        in_base = -(-self._base_end // CHUNK_BYTES)
        for index in sorted({*range(in_base), *self._chunks}):
            at = index * CHUNK_BYTES
            if at < self.size:
                yield at, self._piece(index, 0, min(self.size - at, CHUNK_BYTES))

    def write(self, offset: int, data: bytes, /) -> None:
        """Writing past the end leaves a hole.

        Raises:
            WasiError: FBIG past the largest size of a file.
            BudgetExceeded: nothing was written.
        """
        if not data:
            return
        end = offset + len(data)
        if end > MAX_FILE_BYTES:
            raise WasiError(Errno.FBIG)
        indexes = range(offset // CHUNK_BYTES, (end - 1) // CHUNK_BYTES + 1)
        growth = 0
        for index in indexes:
            chunk = self._chunks.get(index)
            held = -OBJECT_BYTES if chunk is None else len(chunk)
            growth += self._capacity(index, chunk, end - index * CHUNK_BYTES) - held
        if growth:
            self._budget.charge(growth)
            self._held += growth
        view = memoryview(data)
        for index in indexes:
            at = index * CHUNK_BYTES
            start, stop = max(offset - at, 0), min(end - at, CHUNK_BYTES)
            part = view[at + start - offset : at + stop - offset]
            if stop - start == CHUNK_BYTES and index not in self._chunks:
                self._chunks[index] = bytearray(part)
            else:
                self._room(index, stop)[start:stop] = part
        if end > self.size:
            self.size = end
        self.changed = True

    def truncate(self, size: int) -> None:
        """Cut or extend (with a hole) to ``size`` bytes.

        Raises:
            WasiError: FBIG past the largest size of a file.
        """
        if size > MAX_FILE_BYTES:
            raise WasiError(Errno.FBIG)
        if size != self.size:
            self.changed = True
        if size < self.size:
            self._cut(size)
        self.size = size

    def discard(self) -> None:
        """Give back everything that was charged; the file is not used any more."""
        self._chunks = {}
        self._base = b""
        self._base_end = self.size = 0
        self._release(self._held)

    def _cut(self, size: int) -> None:
        released = 0
        cut, keep = divmod(size, CHUNK_BYTES)
        beyond = [index for index in self._chunks if index >= cut]
        for index in beyond:
            chunk = self._chunks[index]
            if index == cut and keep:
                # A slice, not `del`: deleting from a bytearray may keep the memory.
                kept = chunk[:keep]
                self._chunks[index] = kept
                released += len(chunk) - len(kept)
            else:
                del self._chunks[index]
                released += OBJECT_BYTES + len(chunk)
        if len(beyond) > len(self._chunks):
            self._chunks = dict(self._chunks)  # see Directory.remove
        if size < self._base_end:
            self._base_end = size
            if size == 0:
                released += len(self._base)
                self._base = b""
        self._release(released)

    def _release(self, size: int) -> None:
        if size:
            self._held -= size
            self._budget.release(size)

    def _piece(self, index: int, start: int, stop: int) -> bytes | bytearray:
        """Bytes ``start:stop`` of one chunk, with zeros for a hole."""
        chunk = self._chunks.get(index)
        found: bytes | bytearray
        if chunk is None:
            at = index * CHUNK_BYTES
            found = self._base[at + start : min(at + stop, self._base_end)]
        else:
            found = chunk[start:stop]
        missing = stop - start - len(found)
        return found + bytes(missing) if missing else found

    def _capacity(self, index: int, chunk: bytearray | None, needed: int) -> int:
        """Size that the chunk will have; doubling makes small appends cheap."""
        if chunk is None:
            in_base = self._base_end - index * CHUNK_BYTES
            size = max(needed, in_base, _SMALL_CHUNK_BYTES if index else 0)
        elif len(chunk) >= needed:
            return len(chunk)
        else:
            size = max(needed, 2 * len(chunk))
        return min(size, CHUNK_BYTES)

    def _room(self, index: int, needed: int) -> bytearray:
        """The chunk, made or grown to hold ``needed`` bytes; already charged."""
        chunk = self._chunks.get(index)
        if chunk is not None and len(chunk) >= needed:
            return chunk
        # A new bytearray has exactly the size that was charged; growing one in place does not.
        grown = bytearray(self._capacity(index, chunk, needed))
        if chunk is not None:
            grown[: len(chunk)] = chunk
            self._budget.freed(len(chunk))
        elif self._base_end > index * CHUNK_BYTES:
            shown = self._piece(index, 0, min(self._base_end - index * CHUNK_BYTES, CHUNK_BYTES))
            grown[: len(shown)] = shown
        self._chunks[index] = grown
        return grown


class DirectoryEntry:
    __slots__ = ("name", "node", "serial")

    def __init__(self, name: bytes, node: Node, serial: int) -> None:
        self.name = name
        self.node: Node | None = node
        """None once the name was removed."""
        self.serial = serial


_serial = attrgetter("serial")


class Directory(Node):
    """Names in order of their making, which makes a serial number a stable reading position.

    ``fd_readdir`` cookies are serial numbers: ``.`` is 0, ``..`` is 1, and the names follow. A
    name that was read is never read again, whatever is made or removed meanwhile.
    """

    __slots__ = (
        "__weakref__",
        "_order",
        "_parent",
        "entries",
        "height",
        "next_serial",
        "writable",
    )

    filetype = FileType.DIRECTORY

    def __init__(
        self, inode: int, now_ns: int, mode: int, parent: Directory | None, *, writable: bool
    ) -> None:
        super().__init__(inode, now_ns, mode)
        self.nlink = 2
        self._parent: weakref.ref[Directory] | None = None
        if parent is not None:
            self.parent = parent
        self.writable = writable
        self.height = 0
        """Upper bound of the directory levels below; it never shrinks."""
        self.entries: dict[bytes, DirectoryEntry] = {}
        self.next_serial = 2
        self._order: list[DirectoryEntry] = []
        """By serial number, removed ones included until they are as many as the others."""

    @property
    def parent(self) -> Directory:
        """What ``..`` means here; itself for the root and for a directory that was removed."""
        return (self._parent and self._parent()) or self

    @parent.setter
    def parent(self, parent: Directory) -> None:
        # Weak, so that a tree is no cycle: the files of a run go when the run is forgotten and
        # not when the collector comes round. A parent lives as long as its entry for this one.
        self._parent = None if parent is self else weakref.ref(parent)

    def get(self, name: bytes) -> Node | None:
        entry = self.entries.get(name)
        return None if entry is None else entry.node

    def depth(self) -> int:
        """Components of the path from ``/``."""
        levels = 0
        directory = self
        while directory.parent is not directory:
            directory = directory.parent
            levels += 1
        return levels

    def contains(self, directory: Directory) -> bool:
        """True when ``directory`` is this one or lies below it."""
        while directory is not self and directory.parent is not directory:
            directory = directory.parent
        return directory is self

    def add(self, name: bytes, node: Node) -> None:
        """Enter a name that is not there yet."""
        entry = DirectoryEntry(name, node, self.next_serial)
        self.next_serial += 1
        self.entries[name] = entry
        self._order.append(entry)
        self._adopt(node)

    def replace(self, name: bytes, node: Node) -> None:
        """Let an existing name refer to another node."""
        entry = self.entries[name]
        if isinstance(entry.node, Directory):
            self.nlink -= 1
        entry.node = node
        self._adopt(node)

    def remove(self, name: bytes) -> None:
        entry = self.entries.pop(name)
        if isinstance(entry.node, Directory):
            self.nlink -= 1
        entry.node = None
        entry.name = b""
        if len(self._order) > 2 * len(self.entries) + 32:
            self._order = list(self.entries.values())
            # Anew: a dictionary keeps the room of all it ever held, which nobody is charged for.
            self.entries = dict(self.entries)

    def listing(self, cookie: int, before: int) -> Iterator[tuple[int, bytes, Node]]:
        """``(next cookie, name, node)`` from ``cookie`` on, of the names whose serial number is
        less than ``before``; nothing in a directory that was removed."""
        if self.nlink == 0:
            return
        if cookie <= 0:
            yield 1, b".", self
        if cookie <= 1:
            yield 2, b"..", self.parent
        order = self._order
        for position in range(bisect.bisect_left(order, cookie, key=_serial), len(order)):
            entry = order[position]
            if entry.serial >= before:
                return
            if entry.node is not None:
                yield entry.serial + 1, entry.name, entry.node

    def _adopt(self, node: Node) -> None:
        if not isinstance(node, Directory):
            return
        self.nlink += 1
        node.parent = self
        directory, height = self, node.height + 1
        while directory.height < height:
            directory.height = height
            if directory.parent is directory:
                break
            directory, height = directory.parent, height + 1
