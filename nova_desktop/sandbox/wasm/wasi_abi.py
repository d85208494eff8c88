"""The binary interface of ``wasi_snapshot_preview1``: values, layouts and signatures.

Source: the specification's ``typenames.witx`` and ``wasi_snapshot_preview1.witx``
(github.com/WebAssembly/WASI, folder ``legacy/preview1``). All integers are little-endian;
pointers and sizes are 32-bit.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class FileType(enum.IntEnum):
    UNKNOWN = 0
    BLOCK_DEVICE = 1
    CHARACTER_DEVICE = 2
    DIRECTORY = 3
    REGULAR_FILE = 4
    SOCKET_DGRAM = 5
    SOCKET_STREAM = 6
    SYMBOLIC_LINK = 7


class ClockId(enum.IntEnum):
    REALTIME = 0
    MONOTONIC = 1
    PROCESS_CPUTIME_ID = 2
    THREAD_CPUTIME_ID = 3


class Whence(enum.IntEnum):
    SET = 0
    CUR = 1
    END = 2


class EventType(enum.IntEnum):
    CLOCK = 0
    FD_READ = 1
    FD_WRITE = 2


# Flag words are plain integers: they are combined in every call, and enum.Flag is ten times
# slower than int.

RIGHT_FD_DATASYNC: Final = 1 << 0
RIGHT_FD_READ: Final = 1 << 1
RIGHT_FD_SEEK: Final = 1 << 2
RIGHT_FD_FDSTAT_SET_FLAGS: Final = 1 << 3
RIGHT_FD_SYNC: Final = 1 << 4
RIGHT_FD_TELL: Final = 1 << 5
RIGHT_FD_WRITE: Final = 1 << 6
RIGHT_FD_ADVISE: Final = 1 << 7
RIGHT_FD_ALLOCATE: Final = 1 << 8
RIGHT_PATH_CREATE_DIRECTORY: Final = 1 << 9
RIGHT_PATH_CREATE_FILE: Final = 1 << 10
RIGHT_PATH_LINK_SOURCE: Final = 1 << 11
RIGHT_PATH_LINK_TARGET: Final = 1 << 12
RIGHT_PATH_OPEN: Final = 1 << 13
RIGHT_FD_READDIR: Final = 1 << 14
RIGHT_PATH_READLINK: Final = 1 << 15
RIGHT_PATH_RENAME_SOURCE: Final = 1 << 16
RIGHT_PATH_RENAME_TARGET: Final = 1 << 17
RIGHT_PATH_FILESTAT_GET: Final = 1 << 18
RIGHT_PATH_FILESTAT_SET_SIZE: Final = 1 << 19
RIGHT_PATH_FILESTAT_SET_TIMES: Final = 1 << 20
RIGHT_FD_FILESTAT_GET: Final = 1 << 21
RIGHT_FD_FILESTAT_SET_SIZE: Final = 1 << 22
RIGHT_FD_FILESTAT_SET_TIMES: Final = 1 << 23
RIGHT_PATH_SYMLINK: Final = 1 << 24
RIGHT_PATH_REMOVE_DIRECTORY: Final = 1 << 25
RIGHT_PATH_UNLINK_FILE: Final = 1 << 26
RIGHT_POLL_FD_READWRITE: Final = 1 << 27
RIGHT_SOCK_SHUTDOWN: Final = 1 << 28
RIGHT_SOCK_ACCEPT: Final = 1 << 29

_ANY_NODE: Final = (
    RIGHT_FD_DATASYNC
    | RIGHT_FD_SYNC
    | RIGHT_FD_FDSTAT_SET_FLAGS
    | RIGHT_FD_ADVISE
    | RIGHT_FD_FILESTAT_GET
    | RIGHT_FD_FILESTAT_SET_TIMES
    | RIGHT_POLL_FD_READWRITE
)
FILE_RIGHTS: Final = (
    _ANY_NODE
    | RIGHT_FD_READ
    | RIGHT_FD_WRITE
    | RIGHT_FD_SEEK
    | RIGHT_FD_TELL
    | RIGHT_FD_ALLOCATE
    | RIGHT_FD_FILESTAT_SET_SIZE
)
"""Rights that apply to a regular file. ``/dev/null`` has the same: a character device that
can seek is no terminal to the guest's C library."""
DIRECTORY_RIGHTS: Final = (
    _ANY_NODE
    | RIGHT_PATH_CREATE_DIRECTORY
    | RIGHT_PATH_CREATE_FILE
    | RIGHT_PATH_LINK_SOURCE
    | RIGHT_PATH_LINK_TARGET
    | RIGHT_PATH_OPEN
    | RIGHT_FD_READDIR
    | RIGHT_PATH_READLINK
    | RIGHT_PATH_RENAME_SOURCE
    | RIGHT_PATH_RENAME_TARGET
    | RIGHT_PATH_FILESTAT_GET
    | RIGHT_PATH_FILESTAT_SET_SIZE
    | RIGHT_PATH_FILESTAT_SET_TIMES
    | RIGHT_PATH_SYMLINK
    | RIGHT_PATH_REMOVE_DIRECTORY
    | RIGHT_PATH_UNLINK_FILE
)
_STREAM_RIGHTS: Final = RIGHT_FD_FDSTAT_SET_FLAGS | RIGHT_FD_FILESTAT_GET | RIGHT_POLL_FD_READWRITE
INPUT_RIGHTS: Final = _STREAM_RIGHTS | RIGHT_FD_READ
OUTPUT_RIGHTS: Final = _STREAM_RIGHTS | RIGHT_FD_WRITE | RIGHT_FD_DATASYNC | RIGHT_FD_SYNC

FDFLAG_APPEND: Final = 1 << 0
FDFLAG_DSYNC: Final = 1 << 1
FDFLAG_NONBLOCK: Final = 1 << 2
FDFLAG_RSYNC: Final = 1 << 3
FDFLAG_SYNC: Final = 1 << 4
FDFLAGS_ALL: Final = (1 << 5) - 1

OFLAG_CREAT: Final = 1 << 0
OFLAG_DIRECTORY: Final = 1 << 1
OFLAG_EXCL: Final = 1 << 2
OFLAG_TRUNC: Final = 1 << 3
OFLAGS_ALL: Final = (1 << 4) - 1

LOOKUP_SYMLINK_FOLLOW: Final = 1 << 0

FSTFLAG_ATIM: Final = 1 << 0
FSTFLAG_ATIM_NOW: Final = 1 << 1
FSTFLAG_MTIM: Final = 1 << 2
FSTFLAG_MTIM_NOW: Final = 1 << 3
FSTFLAGS_ALL: Final = (1 << 4) - 1

SUBCLOCK_ABSTIME: Final = 1 << 0
EVENT_HANGUP: Final = 1 << 0
LAST_ADVICE: Final = 5

DIRENT: Final = struct.Struct("<QQIB3x")
"""next cookie, inode, length of the name, file type; the name follows."""
FDSTAT: Final = struct.Struct("<BxH4xQQ")
"""file type, flags, base rights, inheriting rights."""
FILESTAT: Final = struct.Struct("<QQB7xQQQQQ")
"""device, inode, file type, links, size, access, modification and change time (ns)."""
PRESTAT: Final = struct.Struct("<B3xI")
"""tag (0: directory), length of the name."""
IOVEC: Final = struct.Struct("<II")
"""pointer, length."""
SUBSCRIPTION: Final = struct.Struct("<QB7xI4xQQH6x")
"""userdata, event type, then for a clock: id, timeout, precision, flags (for a descriptor:
its number in the place of the id)."""
EVENT: Final = struct.Struct("<QHB5xQH6x")
"""userdata, errno, event type, bytes ready, flags."""

SIGNATURES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        name: tuple(parameters.split())
        for name, parameters in {
            "args_get": "i32 i32",
            "args_sizes_get": "i32 i32",
            "environ_get": "i32 i32",
            "environ_sizes_get": "i32 i32",
            "clock_res_get": "i32 i32",
            "clock_time_get": "i32 i64 i32",
            "fd_advise": "i32 i64 i64 i32",
            "fd_allocate": "i32 i64 i64",
            "fd_close": "i32",
            "fd_datasync": "i32",
            "fd_fdstat_get": "i32 i32",
            "fd_fdstat_set_flags": "i32 i32",
            "fd_fdstat_set_rights": "i32 i64 i64",
            "fd_filestat_get": "i32 i32",
            "fd_filestat_set_size": "i32 i64",
            "fd_filestat_set_times": "i32 i64 i64 i32",
            "fd_pread": "i32 i32 i32 i64 i32",
            "fd_prestat_get": "i32 i32",
            "fd_prestat_dir_name": "i32 i32 i32",
            "fd_pwrite": "i32 i32 i32 i64 i32",
            "fd_read": "i32 i32 i32 i32",
            "fd_readdir": "i32 i32 i32 i64 i32",
            "fd_renumber": "i32 i32",
            "fd_seek": "i32 i64 i32 i32",
            "fd_sync": "i32",
            "fd_tell": "i32 i32",
            "fd_write": "i32 i32 i32 i32",
            "path_create_directory": "i32 i32 i32",
            "path_filestat_get": "i32 i32 i32 i32 i32",
            "path_filestat_set_times": "i32 i32 i32 i32 i64 i64 i32",
            "path_link": "i32 i32 i32 i32 i32 i32 i32",
            "path_open": "i32 i32 i32 i32 i32 i64 i64 i32 i32",
            "path_readlink": "i32 i32 i32 i32 i32 i32",
            "path_remove_directory": "i32 i32 i32",
            "path_rename": "i32 i32 i32 i32 i32 i32",
            "path_symlink": "i32 i32 i32 i32 i32",
            "path_unlink_file": "i32 i32 i32",
            "poll_oneoff": "i32 i32 i32 i32",
            "proc_exit": "i32",
            "proc_raise": "i32",
            "sched_yield": "",
            "random_get": "i32 i32",
            "sock_accept": "i32 i32 i32",
            "sock_recv": "i32 i32 i32 i32 i32 i32",
            "sock_send": "i32 i32 i32 i32 i32",
            "sock_shutdown": "i32 i32",
        }.items()
    }
)
"""All 46 functions and the WebAssembly types of their parameters. Each returns an errno (i32)
but ``proc_exit``, which does not return."""
