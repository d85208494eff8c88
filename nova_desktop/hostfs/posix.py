"""The confined directory handle on POSIX: openat(2), O_NOFOLLOW, one name at a time.

Every call is relative to an open descriptor, and names are single components. The kernel
therefore never resolves a path that somebody else chose, so a link that is swapped in between
a check and a use is met as a link and refused, not followed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from types import TracebackType

from nova_desktop.hostfs.names import temporary_name
from nova_desktop.hostfs.state import (
    Entry,
    FileKind,
    FileState,
    NotARegularFile,
    OutsideName,
    StillChanging,
    TooLarge,
)

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe without a writer would wait for ever. O_NOCTTY: a terminal must not
# become ours. Both without effect on regular files.
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_READ_ATTEMPTS = 2

_KEPT_ATTRIBUTES = ("user.", "system.posix_acl_")
"""Extended attributes that belong to the file and not to its content (a capability in
``security.`` does: new content must not inherit the old one's powers)."""


class Directory:
    """An open folder: all that its holder can reach. Close it, or use it as a context manager.

    Every ``name`` is one component; anything else raises ``OutsideName`` before the kernel
    sees it. Failures of the system are plain ``OSError``s.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Directory:
        """The owner's own path: its parents are resolved as usual, its last part is no link."""
        return cls(os.open(path, _OPEN_DIRECTORY))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Looking

    def own_state(self) -> FileState:
        return FileState.of(os.fstat(self._descriptor))

    def scan(self) -> list[Entry]:
        """All entries, sorted by name; an entry that vanishes meanwhile is not listed."""
        entries = []
        with os.scandir(self._descriptor) as found:
            for item in found:
                with contextlib.suppress(FileNotFoundError):
                    status = item.stat(follow_symlinks=False)
                    entries.append(Entry(item.name, FileState.of(status)))
        entries.sort(key=lambda entry: entry.name)
        return entries

    def state(self, name: str) -> FileState | None:
        """What ``name`` is, itself and not what it points to; None when there is nothing."""
        try:
            return FileState.of(
                os.stat(_component(name), dir_fd=self._descriptor, follow_symlinks=False)
            )
        except FileNotFoundError:
            return None

    def folder(self, name: str) -> Directory:
        """Open the folder ``name`` in this one (``NotADirectoryError`` also for a link)."""
        return Directory(os.open(_component(name), _OPEN_DIRECTORY, dir_fd=self._descriptor))

    def descend(self, names: Sequence[str]) -> Directory:
        """Open the folder that these names lead to, each without following a link."""
        current = Directory(os.dup(self._descriptor))
        for name in names:
            with current:
                current = current.folder(name)
        return current

    def read_file(self, name: str, *, limit: int) -> tuple[bytes, FileState]:
        """The whole content of a regular file, and the state it was read in.

        Raises:
            NotARegularFile: a link, folder, pipe, socket or device (never opened blocking).
            StillChanging: it changed under each of two attempts.
            TooLarge: it holds more than ``limit`` bytes; nothing was read.
            OSError: it is gone or may not be read.
        """
        try:
            descriptor = os.open(_component(name), _OPEN_FILE, dir_fd=self._descriptor)
        except OSError as error:
            state = self.state(name)
            if state is not None and state.kind is not FileKind.FILE:
                raise NotARegularFile(state.kind.value) from error
            raise
        try:
            for _ in range(_READ_ATTEMPTS):
                before = FileState.of(os.fstat(descriptor))
                if before.kind is not FileKind.FILE:
                    raise NotARegularFile(before.kind.value)
                if before.size > limit:
                    raise TooLarge(f"{before.size} bytes")
                content = _read_exactly(descriptor, before.size)
                after = FileState.of(os.fstat(descriptor))
                if content is not None and before.same_version(after):
                    return content, after
            raise StillChanging(name)
        finally:
            os.close(descriptor)

    # Changing

    def write_temporary(
        self,
        chunks: Iterable[bytes | bytearray | memoryview],
        *,
        mode: int,
        mtime_ns: int,
        replaces: str | None,
        flush: bool,
    ) -> tuple[str, FileState]:
        """Write a new file under a name of our own, beside the one it will become.

        ``mode``: permission bits; set-id bits are dropped. ``replaces``: the file whose place
        it will take, whose owner, group, access list and user attributes are kept where we may;
        None for a new file, which is subject to the owner's umask. ``flush``: wait until the
        disk holds it. Whole or not there: after an error nothing is left. Returns its name and
        state.
        """
        name = temporary_name(os.urandom(8).hex())
        # A replacement is 0600 until it is complete: nobody who may not read the file now may
        # read its new content early.
        first_mode = mode & 0o777 if replaces is None else 0o600
        descriptor = os.open(name, _CREATE_FILE, first_mode, dir_fd=self._descriptor)
        try:
            try:
                for chunk in chunks:
                    _write_all(descriptor, chunk)
                if replaces is not None:
                    self._take_over(descriptor, replaces, mode)
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
                if flush:
                    os.fsync(descriptor)
                state = FileState.of(os.fstat(descriptor))
            finally:
                os.close(descriptor)
        except BaseException:
            os.unlink(name, dir_fd=self._descriptor)
            raise
        return name, state

    def _take_over(self, descriptor: int, name: str, mode: int) -> None:
        """Give a new file what the file ``name`` has besides its content.

        What only root may give, or this file system cannot hold, is not kept: every program
        that replaces a file (an editor, git) has the same effect.
        """
        try:
            old = os.open(_component(name), _OPEN_FILE, dir_fd=self._descriptor)
        except PermissionError:  # it may be replaced but not read
            os.fchmod(descriptor, mode & 0o777)
            return
        try:
            status, own = os.fstat(old), os.fstat(descriptor)
            if (status.st_uid, status.st_gid) != (own.st_uid, own.st_gid):
                with contextlib.suppress(OSError):  # EPERM; EINVAL: an owner outside our namespace
                    os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, mode & 0o777)
            if sys.platform == "linux":
                for attribute in _attributes(old):
                    if attribute.startswith(_KEPT_ATTRIBUTES):
                        with contextlib.suppress(OSError):
                            os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
        finally:
            os.close(old)

    def create_from(self, temporary: str, name: str) -> None:
        """Give a temporary file its name; ``FileExistsError`` when anything has it already."""
        _component(temporary)
        _component(name)
        here = self._descriptor
        try:
            # link(2) is the portable "rename, but never over something".
            os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links (FAT, some network ones): look, then rename.
            if self.state(name) is not None:
                raise FileExistsError(name) from None
            os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
        else:
            os.unlink(temporary, dir_fd=here)

    def replace_from(self, temporary: str, name: str) -> None:
        """Put a temporary file in the place of ``name``: one step for every reader.

        A link of that name is itself replaced; what it points to is not touched.
        """
        _component(temporary)
        _component(name)
        os.rename(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def exchange(self, temporary: str, name: str) -> bool:
        """Let two entries change places in one step; False where that is not possible.

        What was replaced is then still there to be looked at, and can be put back: nothing
        that another program wrote in the last moment is lost (renameat2(2); Linux 3.15, and
        not every file system).
        """
        _component(temporary)
        _component(name)
        libc = _libc()
        if not hasattr(libc, "renameat2"):
            return False
        here = self._descriptor
        if libc.renameat2(here, os.fsencode(temporary), here, os.fsencode(name), 2) == 0:
            return True
        error = ctypes.get_errno()
        if error in {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}:
            return False
        raise OSError(error, os.strerror(error), name)

    def set_aside(self, name: str) -> str:
        """Give an entry a temporary name of ours, and return it."""
        aside = temporary_name(os.urandom(8).hex())
        here = self._descriptor
        os.rename(_component(name), aside, src_dir_fd=here, dst_dir_fd=here)
        return aside

    def set_permissions(self, name: str, mode: int) -> None:
        """Set the permission bits of a regular file (set-id bits are dropped)."""
        descriptor = os.open(_component(name), _OPEN_FILE, dir_fd=self._descriptor)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotARegularFile(name)
            os.fchmod(descriptor, mode & 0o777)
        finally:
            os.close(descriptor)

    def make_folder(self, name: str, *, mode: int = 0o755) -> None:
        os.mkdir(_component(name), mode & 0o777, dir_fd=self._descriptor)

    def remove_file(self, name: str) -> None:
        """Remove a file, or a link itself."""
        os.unlink(_component(name), dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder (``OSError`` ENOTEMPTY when it is not)."""
        os.rmdir(_component(name), dir_fd=self._descriptor)

    def flush_file_system(self) -> None:
        """Wait until the disk holds everything written so far to this file system.

        For many files this is one journal commit instead of one each (syncfs(2)).
        """
        libc = _libc()
        if not hasattr(libc, "syncfs"):
            os.sync()  # not Linux: everything, everywhere
        elif libc.syncfs(self._descriptor) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))


def _attributes(descriptor: int) -> list[str]:
    """Names of the extended attributes; none on a file system that has none (ENOTSUP)."""
    try:
        return os.listxattr(descriptor)
    except OSError:
        return []


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _component(name: str) -> str:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise OutsideName(f"{name!r} is not the name of an entry")
    return name


def _read_exactly(descriptor: int, size: int) -> bytes | None:
    """``size`` bytes from the start; None when the file holds fewer or more."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    if len(content) > size:
        return None
    # A short read before the end (a signal, 2 GiB at once): go on until it is whole.
    pieces = [content]
    total = len(content)
    while total <= size and (piece := os.read(descriptor, size + 1 - total)):
        pieces.append(piece)
        total += len(piece)
    return b"".join(pieces) if total == size else None


def _write_all(descriptor: int, chunk: bytes | bytearray | memoryview) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]
