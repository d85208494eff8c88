"""The functions whose name begins with ``path_``: what is done by name.

Every path starts from a directory descriptor. Links do not exist here, so ``symlink_follow``
changes nothing.
"""

from __future__ import annotations

from typing import NoReturn

from nova_desktop.sandbox.wasm.denied import RULE_LINKS, RULE_READ_ONLY
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.memfs import MAX_PATH_BYTES, Location
from nova_desktop.sandbox.wasm.memfs_nodes import Directory, Node, RegularFile
from nova_desktop.sandbox.wasm.wasi_abi import (
    DIRECTORY_RIGHTS,
    FDFLAGS_ALL,
    FILE_RIGHTS,
    LOOKUP_SYMLINK_FOLLOW,
    OFLAG_CREAT,
    OFLAG_DIRECTORY,
    OFLAG_EXCL,
    OFLAG_TRUNC,
    OFLAGS_ALL,
    RIGHT_FD_ALLOCATE,
    RIGHT_FD_FILESTAT_SET_SIZE,
    RIGHT_FD_WRITE,
    RIGHT_PATH_CREATE_DIRECTORY,
    RIGHT_PATH_CREATE_FILE,
    RIGHT_PATH_FILESTAT_GET,
    RIGHT_PATH_FILESTAT_SET_SIZE,
    RIGHT_PATH_FILESTAT_SET_TIMES,
    RIGHT_PATH_OPEN,
    RIGHT_PATH_READLINK,
    RIGHT_PATH_REMOVE_DIRECTORY,
    RIGHT_PATH_RENAME_SOURCE,
    RIGHT_PATH_RENAME_TARGET,
    RIGHT_PATH_UNLINK_FILE,
)
from nova_desktop.sandbox.wasm.wasi_descriptors import Descriptor
from nova_desktop.sandbox.wasm.wasi_fd import DescriptorCalls, packed_filestat
from nova_desktop.sandbox.wasm.wasi_state import answers_errno

_CHANGING_RIGHTS = RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE | RIGHT_FD_FILESTAT_SET_SIZE


class PathCalls(DescriptorCalls):
    __slots__ = ()

    @answers_errno
    def path_open(
        self,
        fd: int,
        lookup_flags: int,
        path_ptr: int,
        path_len: int,
        oflags: int,
        rights: int,
        inheriting: int,
        fdflags: int,
        fd_ptr: int,
    ) -> None:
        _check_flags(lookup_flags, LOOKUP_SYMLINK_FOLLOW)
        _check_flags(oflags, OFLAGS_ALL)
        _check_flags(fdflags, FDFLAGS_ALL)
        if oflags & OFLAG_CREAT and oflags & OFLAG_DIRECTORY:
            raise WasiError(Errno.INVAL)
        needed = RIGHT_PATH_OPEN
        if oflags & OFLAG_CREAT:
            needed |= RIGHT_PATH_CREATE_FILE
        if oflags & OFLAG_TRUNC:
            needed |= RIGHT_PATH_FILESTAT_SET_SIZE
        location = self._lookup(fd, needed, path_ptr, path_len)
        if (rights | inheriting) & ~self.descriptors.get(fd).inheriting:
            raise WasiError(Errno.NOTCAPABLE)
        self.check_range(fd_ptr, 4)
        number = self.descriptors.reserve()
        try:
            node = self._open(location, oflags, rights)
        except BaseException:
            self.descriptors.cancel(number)
            raise
        self.descriptors.install(number, _new_descriptor(node, rights, inheriting, fdflags))
        self.memory.write_u32(fd_ptr, number)

    def _open(self, location: Location, oflags: int, rights: int) -> Node:
        """The node to open, made or emptied as the flags say."""
        node = location.node
        if node is None and oflags & OFLAG_CREAT:
            return self.files.create_file(location)
        if oflags & OFLAG_CREAT and location.slash:
            raise WasiError(Errno.ISDIR)
        if node is not None and oflags & OFLAG_CREAT and oflags & OFLAG_EXCL:
            raise WasiError(Errno.EXIST)
        node = location.existing()
        if isinstance(node, Directory):
            if oflags & (OFLAG_CREAT | OFLAG_TRUNC) or rights & RIGHT_FD_WRITE:
                raise WasiError(Errno.ISDIR)
            return node
        if oflags & OFLAG_DIRECTORY:
            raise WasiError(Errno.NOTDIR)
        if isinstance(node, RegularFile):
            if not node.writable and (oflags & OFLAG_TRUNC or rights & RIGHT_FD_WRITE):
                raise RefusedCall(Errno.ROFS, RULE_READ_ONLY, location.path)
            if oflags & OFLAG_TRUNC:
                node.truncate(0)
                node.touch(self.clock.realtime())
        return node

    @answers_errno
    def path_create_directory(self, fd: int, path_ptr: int, path_len: int) -> None:
        location = self._lookup(fd, RIGHT_PATH_CREATE_DIRECTORY, path_ptr, path_len)
        self.files.create_directory(location)

    @answers_errno
    def path_unlink_file(self, fd: int, path_ptr: int, path_len: int) -> None:
        self.files.unlink(self._lookup(fd, RIGHT_PATH_UNLINK_FILE, path_ptr, path_len))

    @answers_errno
    def path_remove_directory(self, fd: int, path_ptr: int, path_len: int) -> None:
        location = self._lookup(fd, RIGHT_PATH_REMOVE_DIRECTORY, path_ptr, path_len)
        self.files.remove_directory(location)

    @answers_errno
    def path_rename(
        self, fd: int, old_ptr: int, old_len: int, new_fd: int, new_ptr: int, new_len: int
    ) -> None:
        self.files.rename(
            self._lookup(fd, RIGHT_PATH_RENAME_SOURCE, old_ptr, old_len),
            self._lookup(new_fd, RIGHT_PATH_RENAME_TARGET, new_ptr, new_len),
        )

    @answers_errno
    def path_filestat_get(
        self, fd: int, lookup_flags: int, path_ptr: int, path_len: int, stat_ptr: int
    ) -> None:
        _check_flags(lookup_flags, LOOKUP_SYMLINK_FOLLOW)
        location = self._lookup(fd, RIGHT_PATH_FILESTAT_GET, path_ptr, path_len)
        self.memory.write(stat_ptr, packed_filestat(location.existing()))

    @answers_errno
    def path_filestat_set_times(
        self,
        fd: int,
        lookup_flags: int,
        path_ptr: int,
        path_len: int,
        atim: int,
        mtim: int,
        flags: int,
    ) -> None:
        _check_flags(lookup_flags, LOOKUP_SYMLINK_FOLLOW)
        location = self._lookup(fd, RIGHT_PATH_FILESTAT_SET_TIMES, path_ptr, path_len)
        self.set_times(location.existing(), atim, mtim, flags, location.path)

    @answers_errno
    def path_readlink(
        self, fd: int, path_ptr: int, path_len: int, _buf: int, _buf_len: int, _used_ptr: int
    ) -> None:
        """INVAL for whatever exists: nothing is a link."""
        self._lookup(fd, RIGHT_PATH_READLINK, path_ptr, path_len).existing()
        raise WasiError(Errno.INVAL)

    @answers_errno
    def path_link(
        self,
        fd: int,
        _lookup_flags: int,
        old_ptr: int,
        old_len: int,
        new_fd: int,
        new_ptr: int,
        new_len: int,
    ) -> None:
        self.descriptors.get(fd)
        self._refuse_link(self._path(old_ptr, old_len), new_fd, new_ptr, new_len)

    @answers_errno
    def path_symlink(self, old_ptr: int, old_len: int, fd: int, new_ptr: int, new_len: int) -> None:
        self._refuse_link(self._path(old_ptr, old_len), fd, new_ptr, new_len)

    def _refuse_link(self, old: bytes, fd: int, new_ptr: int, new_len: int) -> NoReturn:
        self.descriptors.get(fd)
        new = self._path(new_ptr, new_len)
        # PERM is what a file system without links answers (symlink(2), link(2)).
        raise RefusedCall(Errno.PERM, RULE_LINKS, new + b" -> " + old)

    def _path(self, pointer: int, length: int) -> bytes:
        if length > MAX_PATH_BYTES:
            raise WasiError(Errno.NAMETOOLONG)
        return self.memory.read(pointer, length)

    def _lookup(self, fd: int, rights: int, path_ptr: int, path_len: int) -> Location:
        directory = self.directory(fd, rights)
        return self.files.lookup(directory, self._path(path_ptr, path_len))


def _new_descriptor(node: Node, rights: int, inheriting: int, fdflags: int) -> Descriptor:
    """With those of the wanted rights that apply to this kind of node."""
    if isinstance(node, Directory):
        return Descriptor(node, rights & DIRECTORY_RIGHTS, inheriting, fdflags)
    rights &= FILE_RIGHTS
    if isinstance(node, RegularFile) and not node.writable:
        rights &= ~_CHANGING_RIGHTS
    return Descriptor(node, rights, 0, fdflags)


def _check_flags(flags: int, known: int) -> None:
    if flags & ~known:
        raise WasiError(Errno.INVAL)
