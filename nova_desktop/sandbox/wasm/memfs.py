"""The guest's whole file system, in memory. No function here touches a host path.

``/`` is read-only but for ``/work`` and ``/tmp``, and holds ``/dev/null`` and the guest's own
read-only files. There are no links, so a path means the same whenever it is looked up, and
``..`` can be resolved by going to the parent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.denied import RULE_ESCAPE, RULE_READ_ONLY
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.memfs_nodes import (
    MAX_DEPTH,
    OBJECT_BYTES,
    Directory,
    Node,
    NullDevice,
    RegularFile,
)

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255
MAX_READ_BYTES = 1 << 30
"""Longest file that ``WorkEntry.read`` returns in one piece; a guest may make sparse ones of a
terabyte."""

_DOTS = (b".", b"..")


@dataclass(frozen=True, slots=True)
class WorkEntry:
    """One entry of ``/work`` after the run."""

    path: str
    """Relative to ``/work``; always valid Unicode."""
    is_directory: bool
    size: int
    """Bytes; 0 for a directory."""
    mode: int
    """Permission bits of the staged original, wherever it was moved; a default for new ones."""
    mtime_ns: int
    staged_as: str | None
    """Path by which it was staged; None when the guest made it."""
    content_changed: bool
    """The guest wrote its content or size; always False for a directory."""
    _node: Node

    def read(self) -> bytes:
        """The whole content.

        Raises:
            OverflowError: the file is longer than ``MAX_READ_BYTES``; use ``extents``.
        """
        if self.size > MAX_READ_BYTES:
            raise OverflowError(f"{self.path!r} has {self.size} bytes")
        if not isinstance(self._node, RegularFile):
            return b""
        return bytes(self._node.read(0, self.size))

    def extents(self) -> Iterator[tuple[int, bytes | bytearray | memoryview]]:
        """``(offset, bytes)`` of all that is not a hole, ascending, at most 64 KiB each."""
        return self._node.extents() if isinstance(self._node, RegularFile) else iter(())

    def chunks(self) -> Iterator[bytes | bytearray | memoryview]:
        """The content in order, holes as zeros, at most 64 KiB each."""
        if isinstance(self._node, RegularFile):
            for offset in range(0, self.size, 1 << 16):
                yield self._node.read(offset, 1 << 16)


@dataclass(slots=True)
class Location:
    """What a path led to: the directory that holds the last name, and what is there."""

    parent: Directory
    name: bytes
    """The last component; ``.`` or ``..`` when the path ends so."""
    node: Node | None
    slash: bool
    """The path ends with a slash: only a directory will do."""
    path: bytes

    def existing(self) -> Node:
        """Raises:
        WasiError: NOENT; NOTDIR for a file whose path ends with a slash.
        """
        if self.node is None:
            raise WasiError(Errno.NOENT)
        if self.slash and not isinstance(self.node, Directory):
            raise WasiError(Errno.NOTDIR)
        return self.node

    def refuse_if_read_only(self) -> None:
        """Raises:
        RefusedCall: ROFS; the name is not below ``/work`` or ``/tmp``.
        """
        if not self.parent.writable:
            raise RefusedCall(Errno.ROFS, RULE_READ_ONLY, self.path)


class MemoryFileSystem:
    """Files of one run; not thread-safe.

    Names are UTF-8, as the specification says, and compared byte by byte. Only what the host
    stages and the guest makes is charged, not the fixed part.
    """

    def __init__(self, budget: MemoryBudget, read_only: Mapping[str, bytes] | None = None) -> None:
        """``read_only``: absolute path to content, shared between runs and never copied."""
        self.clock: Callable[[], int] = time.time_ns
        """Present time in ns for new time stamps; the WASI host sets its own, coarser one."""
        self._budget = budget
        self._last_inode = 0
        self.root = Directory(self._next_inode(), 0, 0o555, None, writable=False)
        self.work = self._fixed_directory(self.root, b"work", writable=True)
        self._fixed_directory(self.root, b"tmp", writable=True)
        device = NullDevice(self._next_inode(), 0, 0o666)
        self._fixed_directory(self.root, b"dev").add(b"null", device)
        for path, content in (read_only or {}).items():
            *parents, name = path.encode().strip(b"/").split(b"/")
            directory = self.root
            for part in parents:
                known = directory.get(part)
                if not isinstance(known, Directory):
                    known = self._fixed_directory(directory, part)
                directory = known
            directory.add(
                name,
                RegularFile(self._next_inode(), 0, 0o444, budget, base=content, writable=False),
            )

    # For the host, before and after the run

    def stage_directory(self, path: str, *, mode: int = 0o755, mtime_ns: int = 0) -> None:
        """Make a directory of ``/work``, with its parents. One that is there is kept and takes
        the given mode and time.

        Raises:
            BudgetExceeded: the directory was not made; some of its parents may have been.
            WasiError: likewise; the path cannot be (ILSEQ, NAMETOOLONG, NOTDIR, INVAL).
        """
        directory = self._staged_directory(path.split("/"))
        directory.mode = mode
        directory.mtime_ns = mtime_ns

    def stage_file(
        self, path: str, content: bytes, *, mode: int = 0o644, mtime_ns: int = 0
    ) -> None:
        """Make a file of ``/work``, with its parents; ``content`` is kept, not copied.

        Raises:
            BudgetExceeded: the file was not made; directories on its path may have been.
            WasiError: likewise; the path cannot be (ILSEQ, NAMETOOLONG, NOTDIR, INVAL, EXIST).
        """
        *parents, last = path.split("/")
        name = _staged_name(last)
        parent = self._staged_directory(parents)
        if name in parent.entries:
            raise WasiError(Errno.EXIST)
        self._make_room(parent, name, len(content))
        file = RegularFile(self._next_inode(), 0, mode, self._budget, base=content)
        file.mtime_ns = mtime_ns
        file.staged_as = path
        parent.add(name, file)

    def walk(self) -> Iterator[WorkEntry]:
        """All of ``/work``: a directory before what it holds, names in code point order."""
        # Names of a directory, not paths, are held while it is walked: a long path times all the
        # names in it would be many times what they were charged.
        pending = [("", _children(self.work))]
        while pending:
            prefix, children = pending[-1]
            found = next(children, None)
            if found is None:
                pending.pop()
                continue
            name, node = found
            path = prefix + name.decode()
            is_directory = isinstance(node, Directory)
            yield WorkEntry(
                path=path,
                is_directory=is_directory,
                size=node.size,
                mode=node.mode,
                mtime_ns=node.mtime_ns,
                staged_as=node.staged_as,
                content_changed=isinstance(node, RegularFile) and node.changed,
                _node=node,
            )
            if isinstance(node, Directory):
                pending.append((path + "/", _children(node)))

    # For the guest, through the WASI functions

    def lookup(self, base: Directory, path: bytes) -> Location:
        """Follow ``path`` from a directory; the last component need not exist.

        Raises:
            WasiError: NOENT, NOTDIR, NAMETOOLONG, ILSEQ (not UTF-8), INVAL (a NUL byte).
            RefusedCall: PERM; the path is absolute or leads above ``base``.
        """
        if len(path) > MAX_PATH_BYTES:
            raise WasiError(Errno.NAMETOOLONG)
        if b"\0" in path:
            raise WasiError(Errno.INVAL)
        try:
            path.decode()
        except UnicodeDecodeError:
            raise WasiError(Errno.ILSEQ) from None
        parts = [part for part in path.split(b"/") if part]
        if path.startswith(b"/"):
            raise RefusedCall(Errno.PERM, RULE_ESCAPE, path)
        if not parts:
            raise WasiError(Errno.NOENT)
        directory = base
        node: Node | None = base
        name = parts[-1]
        for position, part in enumerate(parts, 1 - len(parts)):
            if part == b".":
                node = directory
            elif part == b"..":
                if directory is base:
                    raise RefusedCall(Errno.PERM, RULE_ESCAPE, path)
                node = directory.parent
            elif len(part) > MAX_NAME_BYTES:
                raise WasiError(Errno.NAMETOOLONG)
            else:
                node = directory.get(part)
            if position == 0:
                break
            if node is None:
                raise WasiError(Errno.NOENT)
            if not isinstance(node, Directory):
                raise WasiError(Errno.NOTDIR)
            directory = node
        return Location(directory, name, node, path.endswith(b"/"), path)

    def create_file(self, location: Location) -> RegularFile:
        """Make the file that a lookup did not find.

        Raises:
            WasiError: ISDIR for a path that ends with a slash; NAMETOOLONG; NOENT in a directory
                that was removed.
            RefusedCall: ROFS.
            BudgetExceeded: nothing was made.
        """
        if location.slash:
            raise WasiError(Errno.ISDIR)
        location.refuse_if_read_only()
        parent = location.parent
        self._make_room(parent, location.name, 0)
        now_ns = self.clock()
        file = RegularFile(self._next_inode(), now_ns, 0o644, self._budget)
        parent.add(location.name, file)
        parent.touch(now_ns)
        return file

    def create_directory(self, location: Location) -> None:
        """Raises:
        WasiError: EXIST, NAMETOOLONG, NOENT in a directory that was removed.
        RefusedCall: ROFS.
        BudgetExceeded: nothing was made.
        """
        if location.node is not None:
            raise WasiError(Errno.EXIST)
        location.refuse_if_read_only()
        now_ns = self.clock()
        self._add_directory(location.parent, location.name, now_ns, 0o755)
        location.parent.touch(now_ns)

    def unlink(self, location: Location) -> None:
        """Remove the name of a file; who has it open keeps it.

        Raises:
            WasiError: NOENT, ISDIR, NOTDIR.
            RefusedCall: ROFS.
        """
        if isinstance(location.node, Directory):
            raise WasiError(Errno.ISDIR)
        node = location.existing()
        location.refuse_if_read_only()
        self._remove_name(location)
        self._unlinked(node)

    def remove_directory(self, location: Location) -> None:
        """Raises:
        WasiError: NOENT, NOTDIR, NOTEMPTY; INVAL for ``.``.
        RefusedCall: ROFS.
        """
        if location.name == b".":
            raise WasiError(Errno.INVAL)
        if location.name == b"..":
            raise WasiError(Errno.NOTEMPTY)
        directory = location.existing()
        if not isinstance(directory, Directory):
            raise WasiError(Errno.NOTDIR)
        location.refuse_if_read_only()
        if directory.entries:
            raise WasiError(Errno.NOTEMPTY)
        self._remove_name(location)
        self._unlinked(directory)

    def rename(self, source: Location, target: Location) -> None:
        """Move a name, over an existing file or empty directory if there is one.

        Raises:
            WasiError: NOENT, BUSY (``.`` or ``..``), INVAL (into itself), ISDIR, NOTDIR,
                NOTEMPTY, NAMETOOLONG.
            RefusedCall: ROFS.
            BudgetExceeded: for a longer name; nothing was changed.
        """
        if source.name in _DOTS or target.name in _DOTS:
            raise WasiError(Errno.BUSY)
        node, replaced = source.existing(), target.node
        source.refuse_if_read_only()
        target.refuse_if_read_only()
        if target.slash and not isinstance(node, Directory):
            raise WasiError(Errno.NOTDIR)
        if node is replaced:
            return
        levels = 1
        if isinstance(node, Directory):
            if node.contains(target.parent):
                raise WasiError(Errno.INVAL)
            if replaced is not None and not isinstance(replaced, Directory):
                raise WasiError(Errno.NOTDIR)
            if replaced is not None and replaced.entries:
                raise WasiError(Errno.NOTEMPTY)
            levels += node.height
        elif isinstance(replaced, Directory):
            raise WasiError(Errno.ISDIR)
        _check_place(target.parent, levels)
        if replaced is None:
            longer = len(target.name) - len(source.name)
            if longer > 0:
                self._budget.charge(longer)
            source.parent.remove(source.name)
            target.parent.add(target.name, node)
            if longer < 0:
                self._budget.release(-longer)
        else:
            self._remove_name(source)
            target.parent.replace(target.name, node)
            self._unlinked(replaced)
        now_ns = self.clock()
        source.parent.touch(now_ns)
        target.parent.touch(now_ns)
        node.ctime_ns = now_ns

    def hold(self, node: Node) -> None:
        """A descriptor refers to the node from now on."""
        node.opens += 1

    def let_go(self, node: Node) -> None:
        node.opens -= 1
        self._release_if_gone(node)

    def check_room(self, size: int) -> None:
        """Raises:
        BudgetExceeded: ``size`` bytes more could not be kept now.
        """
        self._budget.charge(size)
        self._budget.release(size)

    # Parts

    def _next_inode(self) -> int:
        self._last_inode += 1
        return self._last_inode

    def _fixed_directory(
        self, parent: Directory, name: bytes, *, writable: bool = False
    ) -> Directory:
        mode = 0o755 if writable else 0o555
        directory = Directory(self._next_inode(), 0, mode, parent, writable=writable)
        parent.add(name, directory)
        return directory

    def _staged_directory(self, parts: list[str]) -> Directory:
        directory = self.work
        for depth, part in enumerate(parts, 1):
            name = _staged_name(part)
            node = directory.get(name)
            if node is None:
                node = self._add_directory(directory, name, 0, 0o755)
                node.staged_as = "/".join(parts[:depth])
            if not isinstance(node, Directory):
                raise WasiError(Errno.NOTDIR)
            directory = node
        return directory

    def _add_directory(self, parent: Directory, name: bytes, now_ns: int, mode: int) -> Directory:
        self._make_room(parent, name, 0)
        directory = Directory(self._next_inode(), now_ns, mode, parent, writable=parent.writable)
        parent.add(name, directory)
        return directory

    def _make_room(self, parent: Directory, name: bytes, size: int) -> None:
        """Check that a node with a new name can be here, and charge for both."""
        _check_place(parent, 1)
        self._budget.charge(_name_cost(name) + OBJECT_BYTES + size)

    def _remove_name(self, location: Location) -> None:
        location.parent.remove(location.name)
        location.parent.touch(self.clock())
        self._budget.release(_name_cost(location.name))

    def _unlinked(self, node: Node) -> None:
        node.nlink = 0
        node.ctime_ns = self.clock()
        if isinstance(node, Directory):
            # Else an open directory would keep all its removed parents, which are not charged.
            node.parent = node
        self._release_if_gone(node)

    def _release_if_gone(self, node: Node) -> None:
        if node.nlink or node.opens:
            return
        if isinstance(node, RegularFile):
            node.discard()
        elif isinstance(node, Directory):
            self._budget.release(OBJECT_BYTES)


def _name_cost(name: bytes) -> int:
    return OBJECT_BYTES + len(name)


def _check_place(parent: Directory, levels: int) -> None:
    if parent.nlink == 0:
        raise WasiError(Errno.NOENT)
    if parent.depth() + levels > MAX_DEPTH:
        raise WasiError(Errno.NAMETOOLONG)


def _staged_name(part: str) -> bytes:
    """Raises:
    WasiError: the guest could not name it.
    """
    try:
        name = part.encode()
    except UnicodeEncodeError:
        raise WasiError(Errno.ILSEQ) from None
    if not name or name in _DOTS or b"\0" in name or b"/" in name:
        raise WasiError(Errno.INVAL)
    if len(name) > MAX_NAME_BYTES:
        raise WasiError(Errno.NAMETOOLONG)
    return name


def _children(directory: Directory) -> Iterator[tuple[bytes, Node]]:
    """Name and node of each entry, in the order of the names."""
    for name in sorted(directory.entries):
        node = directory.get(name)
        if node is not None:
            yield name, node
