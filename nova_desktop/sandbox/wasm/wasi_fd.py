"""The functions whose name begins with ``fd_``: what is done with an open descriptor."""

from __future__ import annotations

from typing import Final

from nova_desktop.sandbox.wasm.denied import RULE_READ_ONLY
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.memfs_nodes import (
    MAX_FILE_BYTES,
    Directory,
    Node,
    RegularFile,
)
from nova_desktop.sandbox.wasm.wasi_abi import (
    DIRENT,
    FDFLAG_APPEND,
    FDFLAGS_ALL,
    FDSTAT,
    FILESTAT,
    FSTFLAG_ATIM,
    FSTFLAG_ATIM_NOW,
    FSTFLAG_MTIM,
    FSTFLAG_MTIM_NOW,
    FSTFLAGS_ALL,
    IOVEC,
    LAST_ADVICE,
    PRESTAT,
    RIGHT_FD_ADVISE,
    RIGHT_FD_ALLOCATE,
    RIGHT_FD_DATASYNC,
    RIGHT_FD_FDSTAT_SET_FLAGS,
    RIGHT_FD_FILESTAT_GET,
    RIGHT_FD_FILESTAT_SET_SIZE,
    RIGHT_FD_FILESTAT_SET_TIMES,
    RIGHT_FD_READ,
    RIGHT_FD_READDIR,
    RIGHT_FD_SEEK,
    RIGHT_FD_SYNC,
    RIGHT_FD_TELL,
    RIGHT_FD_WRITE,
    Whence,
)
from nova_desktop.sandbox.wasm.wasi_descriptors import Descriptor
from nova_desktop.sandbox.wasm.wasi_state import (
    MAX_TRANSFER_BYTES,
    MAX_VECTORS,
    WasiState,
    answers_errno,
)

MAX_LISTING_BYTES: Final = 1 << 20
"""Longest buffer of ``fd_readdir``. A short count would mean "end of the directory", so more
is refused (INVAL) and not shortened; 42,000 entries take some 20 ms."""

_DEVICE: Final = 1
_SIGN_BIT: Final = 1 << 63
_LAST_TIMESTAMP: Final = (1 << 64) - 1


class DescriptorCalls(WasiState):
    """Pointers, sizes and descriptors are unsigned integers, as the guest passed them."""

    __slots__ = ()

    # Reading and writing

    @answers_errno
    def fd_read(self, fd: int, iovs: int, iovs_len: int, nread_ptr: int) -> None:
        descriptor = self.descriptors.get(fd, RIGHT_FD_READ)
        count = self._scatter(descriptor.node, descriptor.offset, iovs, iovs_len)
        self.memory.write_u32(nread_ptr, count)
        descriptor.offset += count

    @answers_errno
    def fd_pread(self, fd: int, iovs: int, iovs_len: int, offset: int, nread_ptr: int) -> None:
        descriptor = self.descriptors.get(fd, RIGHT_FD_READ | RIGHT_FD_SEEK)
        if offset >= _SIGN_BIT:
            raise WasiError(Errno.INVAL)
        count = self._scatter(descriptor.node, offset, iovs, iovs_len)
        self.memory.write_u32(nread_ptr, count)

    @answers_errno
    def fd_write(self, fd: int, iovs: int, iovs_len: int, nwritten_ptr: int) -> None:
        descriptor = self.descriptors.get(fd, RIGHT_FD_WRITE)
        data = self._gather(iovs, iovs_len)
        # Before the effect, so that a bad pointer is found while nothing has happened.
        self.memory.write_u32(nwritten_ptr, len(data))
        descriptor.offset = self._write(descriptor, descriptor.offset, data)

    @answers_errno
    def fd_pwrite(self, fd: int, iovs: int, iovs_len: int, offset: int, nwritten_ptr: int) -> None:
        descriptor = self.descriptors.get(fd, RIGHT_FD_WRITE | RIGHT_FD_SEEK)
        if offset >= _SIGN_BIT:
            raise WasiError(Errno.INVAL)
        data = self._gather(iovs, iovs_len)
        self.memory.write_u32(nwritten_ptr, len(data))
        self._write(descriptor, offset, data)

    def _write(self, descriptor: Descriptor, offset: int, data: bytes) -> int:
        """Write all or nothing; the offset after it."""
        node = descriptor.node
        if descriptor.flags & FDFLAG_APPEND:
            offset = node.size
        node.write(offset, data)
        if data:
            node.touch(self.clock.realtime())
        return offset + len(data)

    def _vectors(self, iovs: int, iovs_len: int) -> list[tuple[int, int]]:
        """``(pointer, length)`` of each buffer, together at most ``MAX_TRANSFER_BYTES``."""
        if iovs_len > MAX_VECTORS:
            raise WasiError(Errno.INVAL)
        left = MAX_TRANSFER_BYTES
        vectors = []
        for pointer, length in IOVEC.iter_unpack(self.memory.read(iovs, IOVEC.size * iovs_len)):
            length = min(length, left)
            left -= length
            vectors.append((pointer, length))
        return vectors

    def _gather(self, iovs: int, iovs_len: int) -> bytes:
        read = self.memory.read
        vectors = self._vectors(iovs, iovs_len)
        if len(vectors) == 1:
            return read(*vectors[0])
        return b"".join([read(pointer, length) for pointer, length in vectors])

    def _scatter(self, node: Node, offset: int, iovs: int, iovs_len: int) -> int:
        """Read from a node into the guest's buffers; the number of bytes."""
        vectors = self._vectors(iovs, iovs_len)
        for pointer, length in vectors:
            self.check_range(pointer, length)
        start = offset
        for pointer, length in vectors:
            data = node.read(offset, length)
            self.memory.write(pointer, data)
            offset += len(data)
            if len(data) < length:
                break
        return offset - start

    # Position and size

    @answers_errno
    def fd_seek(self, fd: int, offset: int, whence: int, newoffset_ptr: int) -> None:
        if offset >= _SIGN_BIT:
            offset -= 1 << 64
        if whence == Whence.CUR and offset == 0:
            descriptor = self._tellable(fd)
        else:
            descriptor = self.descriptors.get(fd, RIGHT_FD_SEEK)
        if whence == Whence.SET:
            position = offset
        elif whence == Whence.CUR:
            position = descriptor.offset + offset
        elif whence == Whence.END:
            position = descriptor.node.size + offset
        else:
            raise WasiError(Errno.INVAL)
        if not 0 <= position < _SIGN_BIT:
            raise WasiError(Errno.INVAL)
        self.memory.write_u64(newoffset_ptr, position)
        descriptor.offset = position

    @answers_errno
    def fd_tell(self, fd: int, offset_ptr: int) -> None:
        self.memory.write_u64(offset_ptr, self._tellable(fd).offset)

    def _tellable(self, fd: int) -> Descriptor:
        descriptor = self.descriptors.get(fd)
        if not descriptor.rights & (RIGHT_FD_TELL | RIGHT_FD_SEEK):
            raise WasiError(Errno.NOTCAPABLE)
        return descriptor

    @answers_errno
    def fd_filestat_set_size(self, fd: int, size: int) -> None:
        node = self.descriptors.get(fd, RIGHT_FD_FILESTAT_SET_SIZE).node
        if not isinstance(node, RegularFile) or size >= _SIGN_BIT:
            raise WasiError(Errno.INVAL)
        node.truncate(size)
        node.touch(self.clock.realtime())

    @answers_errno
    def fd_allocate(self, fd: int, offset: int, length: int) -> None:
        """Extends the file if there is room for it now. The room is charged when it is written,
        like that of every hole, so another file may have taken it by then."""
        node = self.descriptors.get(fd, RIGHT_FD_ALLOCATE).node
        if not isinstance(node, RegularFile):
            raise WasiError(Errno.NODEV)
        if length == 0:
            raise WasiError(Errno.INVAL)
        if offset + length > MAX_FILE_BYTES:
            raise WasiError(Errno.FBIG)
        if offset + length > node.size:
            self.files.check_room(offset + length - node.size)
            node.truncate(offset + length)
            node.touch(self.clock.realtime())

    @answers_errno
    def fd_advise(self, fd: int, _offset: int, _length: int, advice: int) -> None:
        """Memory needs no advice, but a wrong call is told."""
        self.descriptors.get(fd, RIGHT_FD_ADVISE)
        if advice > LAST_ADVICE:
            raise WasiError(Errno.INVAL)

    @answers_errno
    def fd_datasync(self, fd: int) -> None:
        self.descriptors.get(fd, RIGHT_FD_DATASYNC)

    @answers_errno
    def fd_sync(self, fd: int) -> None:
        self.descriptors.get(fd, RIGHT_FD_SYNC)

    # The descriptor itself

    @answers_errno
    def fd_close(self, fd: int) -> None:
        self.descriptors.close(fd)

    @answers_errno
    def fd_renumber(self, fd: int, to: int) -> None:
        self.descriptors.renumber(fd, to)

    @answers_errno
    def fd_fdstat_get(self, fd: int, stat_ptr: int) -> None:
        descriptor = self.descriptors.get(fd)
        self.memory.write(
            stat_ptr,
            FDSTAT.pack(
                descriptor.node.filetype,
                descriptor.flags,
                descriptor.rights,
                descriptor.inheriting,
            ),
        )

    @answers_errno
    def fd_fdstat_set_flags(self, fd: int, flags: int) -> None:
        descriptor = self.descriptors.get(fd, RIGHT_FD_FDSTAT_SET_FLAGS)
        if flags & ~FDFLAGS_ALL:
            raise WasiError(Errno.INVAL)
        descriptor.flags = flags

    @answers_errno
    def fd_fdstat_set_rights(self, fd: int, base: int, inheriting: int) -> None:
        descriptor = self.descriptors.get(fd)
        if base & ~descriptor.rights or inheriting & ~descriptor.inheriting:
            raise WasiError(Errno.NOTCAPABLE)
        descriptor.rights = base
        descriptor.inheriting = inheriting

    @answers_errno
    def fd_prestat_get(self, fd: int, prestat_ptr: int) -> None:
        """BADF ends the C library's search for preopened directories."""
        self.memory.write(prestat_ptr, PRESTAT.pack(0, len(self._preopened(fd))))

    @answers_errno
    def fd_prestat_dir_name(self, fd: int, path_ptr: int, path_len: int) -> None:
        name = self._preopened(fd)
        if path_len < len(name):
            raise WasiError(Errno.NAMETOOLONG)
        self.memory.write(path_ptr, name)

    def _preopened(self, fd: int) -> bytes:
        name = self.descriptors.get(fd).preopened
        if name is None:
            raise WasiError(Errno.BADF)
        return name

    # What it refers to

    @answers_errno
    def fd_filestat_get(self, fd: int, stat_ptr: int) -> None:
        node = self.descriptors.get(fd, RIGHT_FD_FILESTAT_GET).node
        self.memory.write(stat_ptr, packed_filestat(node))

    @answers_errno
    def fd_filestat_set_times(self, fd: int, atim: int, mtim: int, flags: int) -> None:
        node = self.descriptors.get(fd, RIGHT_FD_FILESTAT_SET_TIMES).node
        self.set_times(node, atim, mtim, flags, f"descriptor {fd}")

    @answers_errno
    def fd_readdir(self, fd: int, buf: int, buf_len: int, cookie: int, used_ptr: int) -> None:
        """Fills the buffer; the last entry may be cut, and the caller asks for it again."""
        descriptor = self.descriptors.get(fd, RIGHT_FD_READDIR)
        directory = descriptor.node
        if not isinstance(directory, Directory):
            raise WasiError(Errno.NOTDIR)
        if buf_len > MAX_LISTING_BYTES:
            raise WasiError(Errno.INVAL)
        if cookie == 0:
            descriptor.listed_before = directory.next_serial
        entries = bytearray()
        for next_cookie, name, node in directory.listing(cookie, descriptor.listed_before):
            if len(entries) >= buf_len:
                break
            entries += DIRENT.pack(next_cookie, node.inode, len(name), node.filetype)
            entries += name
        del entries[buf_len:]
        self.memory.write(buf, entries)
        self.memory.write_u32(used_ptr, len(entries))

    def set_times(self, node: Node, atim: int, mtim: int, flags: int, target: bytes | str) -> None:
        """Raises:
        WasiError: INVAL for contradicting or unknown flags.
        RefusedCall: ROFS.
        """
        both_atim = FSTFLAG_ATIM | FSTFLAG_ATIM_NOW
        both_mtim = FSTFLAG_MTIM | FSTFLAG_MTIM_NOW
        if (
            flags & ~FSTFLAGS_ALL
            or flags & both_atim == both_atim
            or flags & both_mtim == both_mtim
        ):
            raise WasiError(Errno.INVAL)
        if not node.writable:
            raise RefusedCall(Errno.ROFS, RULE_READ_ONLY, target)
        now_ns = self.clock.realtime()
        if flags & FSTFLAG_ATIM_NOW:
            node.atime_ns = now_ns
        elif flags & FSTFLAG_ATIM:
            node.atime_ns = atim
        if flags & FSTFLAG_MTIM_NOW:
            node.mtime_ns = now_ns
        elif flags & FSTFLAG_MTIM:
            node.mtime_ns = mtim
        node.ctime_ns = now_ns


def packed_filestat(node: Node) -> bytes:
    return FILESTAT.pack(
        _DEVICE,
        node.inode,
        node.filetype,
        node.nlink,
        node.size,
        node.atime_ns,
        # A staged file has the host's time, which can be before 1970.
        min(max(0, node.mtime_ns), _LAST_TIMESTAMP),
        node.ctime_ns,
    )
