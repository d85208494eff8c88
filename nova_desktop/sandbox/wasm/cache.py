"""Compiled guests on disk, so that only the first start compiles.

wasmtime maps a compiled guest as machine code and trusts it blindly: who can write this file
runs code as the user. So the folder is opened without following a link and must be ours alone,
so must the file, and the hash is compared on the very bytes that are then handed on, already in
our memory. Anything else is no error: the guest is compiled anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nova_desktop.model import MIB
from nova_desktop.sandbox.wasm.isolate import CONFIGURATION
from nova_desktop.sandbox.wasm.libwasmtime import WASMTIME_VERSION, machine_name

_MAGIC = b"nova-cwasm-1\n\0\0\0"
_HEADER = struct.Struct("<16s32s32sQ")
"""Magic, key, SHA-256 of the body, length of the body."""

_MAX_BYTES = 256 * MIB
_LEFTOVER_S = 3600
"""Age at which a temporary file is nobody's any more: no compilation takes that long."""

_SUFFIX = ".cwasm"
_TEMPORARY = ".new-"

_POSIX = os.name == "posix"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class CacheUnusable(Exception):
    """Why the folder or the file is not trusted, or cannot be written."""


class CompiledCache:
    """A folder of compiled guests, one file for each guest, named by what it was made from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = ""
        """Why the cache could not be used the last time; empty when it could."""

    def read(self, guest: str, wasm_sha256: str) -> bytes | None:
        """The compiled guest, verified; None when it has to be compiled.

        ``guest`` is our own short name (``python``), never foreign text.
        """
        key = _key(wasm_sha256)
        self.problem = ""
        try:
            with _open_folder(self.folder) as folder:
                return _read_verified(folder, _file_name(guest, key), key)
        except FileNotFoundError:
            return None
        except (OSError, CacheUnusable) as error:
            self.problem = f"The compiled guest in {self.folder} is not used: {error}"
            return None

    def write(self, guest: str, wasm_sha256: str, compiled: bytes) -> None:
        """Keep a compiled guest and drop its predecessors. Failing is noted in ``problem``:
        the run goes on, the next start compiles again.
        """
        key = _key(wasm_sha256)
        name = _file_name(guest, key)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _open_folder(self.folder) as folder:
                _write_atomically(folder, name, key, compiled)
                _remove_others(folder, guest, name)
        except (OSError, CacheUnusable) as error:
            self.problem = f"The compiled guest could not be kept in {self.folder}: {error}"


class _Folder:
    """An open folder: by descriptor where the system can (a later swap is then harmless)."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    def open(self, name: str, flags: int) -> int:
        flags |= _NO_FOLLOW | _BINARY
        if self._descriptor is None:
            return os.open(self._path / name, flags, 0o600)
        return os.open(name, flags, 0o600, dir_fd=self._descriptor)

    def replace(self, old: str, new: str) -> None:
        if self._descriptor is None:
            (self._path / old).replace(self._path / new)
        else:
            os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        if self._descriptor is None:
            (self._path / name).unlink()
        else:
            os.unlink(name, dir_fd=self._descriptor)

    def ages(self) -> dict[str, float]:
        """Name to age in seconds of everything inside."""
        now = time.time_ns() / 1e9
        with os.scandir(self._path if self._descriptor is None else self._descriptor) as entries:
            return {e.name: now - e.stat(follow_symlinks=False).st_mtime for e in entries}


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[_Folder]:
    """Raises:
    OSError: absent, a link (``ELOOP``, ``ENOTDIR``), not readable.
    CacheUnusable: somebody else's, or somebody else may write to it.
    """
    if not _POSIX:
        # The user's profile is closed to others by its access list; links are refused.
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode) or getattr(status, "st_reparse_tag", 0) != 0:
            raise CacheUnusable("it is not a plain folder")
        yield _Folder(path, None)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW)
    try:
        _require_ours(os.fstat(descriptor), "the folder")
        yield _Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _require_ours(status: os.stat_result, what: str) -> None:
    if _POSIX and status.st_uid != os.geteuid():
        raise CacheUnusable(f"{what} belongs to another user")
    if _POSIX and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheUnusable(f"others may write to {what}")


def _read_verified(folder: _Folder, name: str, key: bytes) -> bytes:
    # Not blocking: a FIFO in the file's place would wait for its writer.
    descriptor = folder.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CacheUnusable("it is not a plain file")
        _require_ours(status, "the file")
        if status.st_nlink != 1:
            raise CacheUnusable("the file has a second name")
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise CacheUnusable("it is cut short")
        magic, found_key, digest, length = _HEADER.unpack(header)
        if magic != _MAGIC or found_key != key or length > _MAX_BYTES:
            raise CacheUnusable("it was made for something else")
        body = file.read(length)
        if len(body) < length:
            raise CacheUnusable("it is cut short")
    if hashlib.sha256(body).digest() != digest:
        raise CacheUnusable("its content was changed")
    return body


def _write_atomically(folder: _Folder, name: str, key: bytes, body: bytes) -> None:
    temporary = f"{_TEMPORARY}{os.urandom(8).hex()}"
    header = _HEADER.pack(_MAGIC, key, hashlib.sha256(body).digest(), len(body))
    descriptor = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(header)
            file.write(body)
        folder.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.remove(temporary)
        raise


def _remove_others(folder: _Folder, guest: str, keep: str) -> None:
    """Earlier versions of this guest, and what a killed process left half-written."""
    for name, age in folder.ages().items():
        predecessor = name.startswith(f"{guest}-") and name.endswith(_SUFFIX) and name != keep
        leftover = name.startswith(_TEMPORARY) and age > _LEFTOVER_S
        if predecessor or leftover:
            # On Windows another process may still have it open: the next write removes it.
            with contextlib.suppress(OSError):
                folder.remove(name)


def _file_name(guest: str, key: bytes) -> str:
    return f"{guest}-{key.hex()[:32]}{_SUFFIX}"


def _key(wasm_sha256: str) -> bytes:
    """Digest of all that the machine code depends on."""
    parts = (WASMTIME_VERSION, CONFIGURATION, wasm_sha256, _processor())
    return hashlib.sha256("\n".join(parts).encode()).digest()


@functools.cache
def _processor() -> str:
    """Names the processor with its features, which the compiler makes use of.

    Only a name: wasmtime itself refuses code for features that are missing. With the name in
    the key, machines that share a home folder do not overwrite each other's file in turns.
    """
    name = f"{sys.platform} {machine_name()}"
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            first = Path("/proc/cpuinfo").read_bytes()[: 16 << 10].split(b"\n\n", 1)[0]
            wanted = (b"model name", b"flags", b"Features", b"CPU implementer", b"CPU part")
            lines = sorted(line for line in first.splitlines() if line.startswith(wanted))
            return name + hashlib.sha256(b"\n".join(lines)).hexdigest()
    import platform  # takes 4 ms to import; not needed on Linux

    return f"{name} {platform.processor()}"
