"""A guest made of a bytearray: calls the WASI functions as a C library would, without wasm."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nova_desktop.model import MIB, Cancellation, Stream
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.control import RunControl
from nova_desktop.sandbox.wasm.denied import DeniedLog
from nova_desktop.sandbox.wasm.errno import Errno
from nova_desktop.sandbox.wasm.hostcalls import GuestFault
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.wasi import WasiHost

MEMORY_BYTES = 8 * MIB
ROOT = 3
"""The descriptor of ``/``."""
LIBRARY = "/usr/lib/python313.zip"

READ = abi.RIGHT_FD_READ | abi.RIGHT_FD_SEEK | abi.RIGHT_FD_TELL | abi.RIGHT_FD_FILESTAT_GET
WRITE = (
    abi.RIGHT_FD_WRITE
    | abi.RIGHT_FD_SEEK
    | abi.RIGHT_FD_TELL
    | abi.RIGHT_FD_ALLOCATE
    | abi.RIGHT_FD_FILESTAT_GET
    | abi.RIGHT_FD_FILESTAT_SET_SIZE
    | abi.RIGHT_FD_FILESTAT_SET_TIMES
    | abi.RIGHT_FD_FDSTAT_SET_FLAGS
)
READ_WRITE = READ | WRITE
EVERYTHING = abi.DIRECTORY_RIGHTS | abi.FILE_RIGHTS

_RESULT = 64
_VECTORS = 1024
_PATH = 16 * 1024
_SECOND_PATH = 32 * 1024
_DATA = 64 * 1024


class FakeMemory:
    """Guest memory as the isolate gives it, with its checks."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)

    def _check(self, pointer: int, length: int) -> None:
        if pointer < 0 or length < 0 or pointer + length > len(self.data):
            raise GuestFault

    def read(self, pointer: int, length: int) -> bytes:
        self._check(pointer, length)
        return bytes(self.data[pointer : pointer + length])

    def write(self, pointer: int, data: bytes | bytearray | memoryview) -> None:
        self._check(pointer, len(data))
        self.data[pointer : pointer + len(data)] = data

    def write_u32(self, pointer: int, value: int) -> None:
        self.write(pointer, struct.pack("<I", value))

    def write_u64(self, pointer: int, value: int) -> None:
        self.write(pointer, struct.pack("<Q", value))


class CallFailed(AssertionError):
    """A call that the test expected to succeed did not."""


@dataclass(frozen=True)
class Stat:
    device: int
    inode: int
    filetype: int
    nlink: int
    size: int
    atime_ns: int
    mtime_ns: int
    ctime_ns: int


@dataclass
class Guest:
    """``call`` returns the errno as the trampoline would; the other methods expect success."""

    budget_bytes: int = 64 * MIB
    arguments: Sequence[str] = ("program",)
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    timeout_s: float = 60.0
    clock_resolution_ns: int = 1000
    memory_bytes: int = MEMORY_BYTES

    def __post_init__(self) -> None:
        self.budget = MemoryBudget(self.budget_bytes)
        self.files = MemoryFileSystem(self.budget, {LIBRARY: b"PK library"})
        self.cancellation = Cancellation()
        self.control = RunControl(self.timeout_s, self.cancellation)
        self.control.start()
        self.denied = DeniedLog()
        self.output = output = list[tuple[Stream, bytes]]()
        self.host = WasiHost(
            files=self.files,
            arguments=self.arguments,
            environment=self.environment,
            stdin=self.stdin,
            output=lambda stream, data: output.append((stream, data)),
            control=self.control,
            budget=self.budget,
            denied=self.denied,
            clock_resolution_ns=self.clock_resolution_ns,
        )
        self.memory = FakeMemory(self.memory_bytes)
        self.host.memory = self.memory
        self.charged_at_start = self.budget.charged

    # Plain calls

    def call(self, name: str, *arguments: int) -> int:
        assert len(arguments) == len(abi.SIGNATURES[name]), f"{name} takes other arguments"
        try:
            errno: int = getattr(self.host, name)(*arguments)
        except GuestFault:
            return Errno.FAULT
        return errno

    def ok(self, name: str, *arguments: int) -> None:
        errno = self.call(name, *arguments)
        if errno:
            raise CallFailed(f"{name}: {Errno(errno).name}")

    def u32(self, pointer: int = _RESULT) -> int:
        value: int = struct.unpack("<I", self.memory.read(pointer, 4))[0]
        return value

    def u64(self, pointer: int = _RESULT) -> int:
        value: int = struct.unpack("<Q", self.memory.read(pointer, 8))[0]
        return value

    def path(self, path: str | bytes, at: int = _PATH) -> tuple[int, int]:
        """Put a path into memory; pointer and length."""
        encoded = path if isinstance(path, bytes) else path.encode()
        self.memory.write(at, encoded)
        return at, len(encoded)

    def vectors(self, *vectors: tuple[int, int]) -> tuple[int, int]:
        self.memory.write(_VECTORS, b"".join(abi.IOVEC.pack(*vector) for vector in vectors))
        return _VECTORS, len(vectors)

    # By descriptor

    def write(self, fd: int, data: bytes) -> int:
        self.memory.write(_DATA, data)
        self.ok("fd_write", fd, *self.vectors((_DATA, len(data))), _RESULT)
        return self.u32()

    def write_errno(self, fd: int, data: bytes) -> int:
        self.memory.write(_DATA, data)
        return self.call("fd_write", fd, *self.vectors((_DATA, len(data))), _RESULT)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self.memory.write(_DATA, data)
        self.ok("fd_pwrite", fd, *self.vectors((_DATA, len(data))), offset, _RESULT)
        return self.u32()

    def read(self, fd: int, length: int) -> bytes:
        self.ok("fd_read", fd, *self.vectors((_DATA, length)), _RESULT)
        return self.memory.read(_DATA, self.u32())

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        self.ok("fd_pread", fd, *self.vectors((_DATA, length)), offset, _RESULT)
        return self.memory.read(_DATA, self.u32())

    def seek(self, fd: int, offset: int, whence: int = abi.Whence.SET) -> int:
        self.ok("fd_seek", fd, offset & (1 << 64) - 1, whence, _RESULT)
        return self.u64()

    def tell(self, fd: int) -> int:
        self.ok("fd_tell", fd, _RESULT)
        return self.u64()

    def close(self, *fds: int) -> None:
        for fd in fds:
            self.ok("fd_close", fd)

    def fstat(self, fd: int) -> Stat:
        self.ok("fd_filestat_get", fd, _RESULT)
        return self._stat()

    def _stat(self) -> Stat:
        return Stat(*abi.FILESTAT.unpack(self.memory.read(_RESULT, abi.FILESTAT.size)))

    def fdstat(self, fd: int) -> tuple[int, int, int, int]:
        """File type, flags, rights, inheriting rights."""
        self.ok("fd_fdstat_get", fd, _RESULT)
        fields: tuple[Any, ...] = abi.FDSTAT.unpack(self.memory.read(_RESULT, abi.FDSTAT.size))
        return fields

    def readdir(self, fd: int, cookie: int, size: int) -> list[tuple[int, int, int, bytes]]:
        """Whole entries of one call: ``(next cookie, inode, file type, name)``."""
        self.ok("fd_readdir", fd, _DATA, size, cookie, _RESULT)
        data = self.memory.read(_DATA, self.u32())
        entries = []
        while len(data) >= abi.DIRENT.size:
            next_cookie, inode, length, filetype = abi.DIRENT.unpack_from(data)
            name = data[abi.DIRENT.size : abi.DIRENT.size + length]
            if len(name) < length:
                break
            entries.append((next_cookie, inode, filetype, name))
            data = data[abi.DIRENT.size + length :]
        return entries

    def listdir(self, path: str, size: int = 4096) -> list[bytes]:
        """Names of a directory without the dots, read in bites of ``size`` bytes."""
        fd = self.open(path, oflags=abi.OFLAG_DIRECTORY, rights=abi.RIGHT_FD_READDIR)
        names, cookie = [], 0
        while entries := self.readdir(fd, cookie, size):
            names += [entry[3] for entry in entries]
            cookie = entries[-1][0]
        self.close(fd)
        assert names[:2] == [b".", b".."]
        return names[2:]

    # By name

    def open_errno(
        self,
        path: str | bytes,
        *,
        dirfd: int = ROOT,
        oflags: int = 0,
        rights: int = READ,
        inheriting: int = EVERYTHING,
        fdflags: int = 0,
    ) -> int:
        return self.call(
            *("path_open", dirfd, 0, *self.path(path), oflags, rights, inheriting, fdflags),
            _RESULT,
        )

    def open(
        self,
        path: str | bytes,
        *,
        dirfd: int = ROOT,
        oflags: int = 0,
        rights: int = READ,
        inheriting: int = EVERYTHING,
        fdflags: int = 0,
    ) -> int:
        errno = self.open_errno(
            path, dirfd=dirfd, oflags=oflags, rights=rights, inheriting=inheriting, fdflags=fdflags
        )
        if errno:
            raise CallFailed(f"open {path!r}: {Errno(errno).name}")
        return self.u32()

    def open_directory(self, path: str | bytes, dirfd: int = ROOT) -> int:
        return self.open(path, dirfd=dirfd, oflags=abi.OFLAG_DIRECTORY, rights=abi.DIRECTORY_RIGHTS)

    def create(self, path: str | bytes, content: bytes = b"") -> None:
        fd = self.open(path, oflags=abi.OFLAG_CREAT | abi.OFLAG_TRUNC, rights=WRITE)
        if content:
            assert self.write(fd, content) == len(content)
        self.close(fd)

    def content(self, path: str | bytes) -> bytes:
        fd = self.open(path)
        data = self.read(fd, self.fstat(fd).size)
        self.close(fd)
        return data

    def mkdir(self, path: str | bytes, dirfd: int = ROOT) -> int:
        return self.call("path_create_directory", dirfd, *self.path(path))

    def rmdir(self, path: str | bytes, dirfd: int = ROOT) -> int:
        return self.call("path_remove_directory", dirfd, *self.path(path))

    def unlink(self, path: str | bytes, dirfd: int = ROOT) -> int:
        return self.call("path_unlink_file", dirfd, *self.path(path))

    def rename(
        self, old: str | bytes, new: str | bytes, old_fd: int = ROOT, new_fd: int = ROOT
    ) -> int:
        return self.call(
            "path_rename", old_fd, *self.path(old), new_fd, *self.path(new, _SECOND_PATH)
        )

    def stat_errno(self, path: str | bytes, dirfd: int = ROOT) -> int:
        return self.call("path_filestat_get", dirfd, 1, *self.path(path), _RESULT)

    def stat(self, path: str | bytes, dirfd: int = ROOT) -> Stat:
        self.ok("path_filestat_get", dirfd, 1, *self.path(path), _RESULT)
        return self._stat()

    def charged(self) -> int:
        """Bytes charged since the start."""
        return self.budget.charged - self.charged_at_start
