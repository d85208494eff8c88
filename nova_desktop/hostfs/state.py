"""What is known about an entry of a folder, and why reading one can fail."""

from __future__ import annotations

import enum
import os
import stat
from dataclasses import dataclass
from typing import NamedTuple


class FileKind(enum.Enum):
    FILE = "file"
    DIRECTORY = "folder"
    LINK = "link"
    SPECIAL = "special file"


class FileState(NamedTuple):
    """What ``lstat`` says, as far as it tells one version of a file from another.

    (A tuple, since one is made for each file three times: a frozen dataclass takes 2 µs.)
    """

    device: int
    inode: int
    mode: int
    links: int
    owner: int
    group: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        return cls(
            status.st_dev,
            status.st_ino,
            status.st_mode,
            status.st_nlink,
            status.st_uid,
            status.st_gid,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )

    @property
    def kind(self) -> FileKind:
        if stat.S_ISREG(self.mode):
            return FileKind.FILE
        if stat.S_ISDIR(self.mode):
            return FileKind.DIRECTORY
        if stat.S_ISLNK(self.mode):
            return FileKind.LINK
        return FileKind.SPECIAL

    @property
    def permissions(self) -> int:
        """The nine permission bits: set-id and sticky bits are never carried anywhere."""
        return self.mode & 0o777

    @property
    def identity(self) -> tuple[int, int]:
        return self.device, self.inode

    def same_version(self, other: FileState) -> bool:
        """Whether nothing was written in between, as far as the file system can tell.

        ``ctime`` is compared too: ``mtime`` can be set back by any program, it cannot.
        """
        return (
            self.identity == other.identity
            and self.size == other.size
            and self.mtime_ns == other.mtime_ns
            and self.ctime_ns == other.ctime_ns
        )

    def same_data(self, other: FileState) -> bool:
        """As ``same_version``, for a file that was renamed in between (which sets ``ctime``)."""
        return self._replace(ctime_ns=0).same_version(other._replace(ctime_ns=0))


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """One path component; bytes that are not Unicode are surrogate escapes (PEP 383)."""
    state: FileState


class NotARegularFile(Exception):
    """What was to be read is a link, a folder, a pipe, a socket or a device."""


class StillChanging(Exception):
    """The file changed under two attempts to read it whole."""


class TooLarge(Exception):
    """The file is larger than the caller has room for."""


class OutsideName(Exception):
    """A name that is not one plain component: it could lead somewhere else."""
