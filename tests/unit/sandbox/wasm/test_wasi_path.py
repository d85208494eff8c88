from __future__ import annotations

import pytest

from nova_desktop.model import Denied
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.errno import Errno
from nova_desktop.sandbox.wasm.memfs_nodes import OBJECT_BYTES
from nova_desktop.sandbox.wasm.wasi_descriptors import MAX_DESCRIPTORS
from tests.fakes.wasi_guest import (
    EVERYTHING,
    LIBRARY,
    MEMORY_BYTES,
    READ,
    READ_WRITE,
    ROOT,
    WRITE,
    Guest,
)

CREAT, EXCL, TRUNC, DIRECTORY = (
    abi.OFLAG_CREAT,
    abi.OFLAG_EXCL,
    abi.OFLAG_TRUNC,
    abi.OFLAG_DIRECTORY,
)
RESULT = 64


@pytest.fixture
def guest() -> Guest:
    """With ``/work/d`` (which holds ``in``), ``/work/empty`` and ``/work/f``."""
    guest = Guest()
    assert guest.mkdir("work/d") == guest.mkdir("work/empty") == 0
    guest.create("work/d/in", b"inside")
    guest.create("work/f", b"content")
    return guest


# Opening


@pytest.mark.parametrize(
    ("path", "oflags", "rights", "errno"),
    [
        ("work/f", 0, READ, Errno.SUCCESS),
        ("work/f", 0, READ_WRITE, Errno.SUCCESS),
        ("work/f", 0, 0, Errno.SUCCESS),
        ("work/f", CREAT, WRITE, Errno.SUCCESS),
        ("work/f", EXCL, READ, Errno.SUCCESS),
        ("work/f", CREAT | EXCL, WRITE, Errno.EXIST),
        ("work/d", CREAT | EXCL, WRITE, Errno.EXIST),
        ("work/f", DIRECTORY, READ, Errno.NOTDIR),
        ("work/f/", 0, READ, Errno.NOTDIR),
        ("work/f/x", 0, READ, Errno.NOTDIR),
        ("work/f/..", 0, READ, Errno.NOTDIR),
        ("work/f/.", 0, READ, Errno.NOTDIR),
        ("work/new", 0, READ, Errno.NOENT),
        ("work/new", CREAT, WRITE, Errno.SUCCESS),
        ("work/new/", CREAT, WRITE, Errno.ISDIR),
        ("work/f/", CREAT, WRITE, Errno.ISDIR),
        ("work/no/new", CREAT, WRITE, Errno.NOENT),
        ("work/no/../f", 0, READ, Errno.NOENT),
        ("work/d", 0, READ, Errno.SUCCESS),
        ("work/d/", 0, READ, Errno.SUCCESS),
        ("work/d/.", DIRECTORY, READ, Errno.SUCCESS),
        ("work/d/..", DIRECTORY, READ, Errno.SUCCESS),
        ("work/d", 0, READ_WRITE, Errno.ISDIR),
        ("work/d", CREAT, READ, Errno.ISDIR),
        ("work/d", TRUNC, READ, Errno.ISDIR),
        ("work/d", DIRECTORY | TRUNC, READ, Errno.ISDIR),
        ("work/x", CREAT | DIRECTORY, READ, Errno.INVAL),
        ("work/f", 1 << 4, READ, Errno.INVAL),
        ("work//d/./../f", 0, READ, Errno.SUCCESS),
        ("", 0, READ, Errno.NOENT),
        (".", 0, READ, Errno.SUCCESS),
        ("./", 0, READ, Errno.SUCCESS),
        ("..", 0, READ, Errno.PERM),
        ("work/../..", 0, READ, Errno.PERM),
        ("work/../../etc/passwd", 0, READ, Errno.PERM),
        ("/work/f", 0, READ, Errno.PERM),
        ("/", 0, READ, Errno.PERM),
        ("work/f\0", 0, READ, Errno.INVAL),
        ("work/f\0x", CREAT, WRITE, Errno.INVAL),
        ("work/" + "n" * 255, CREAT, WRITE, Errno.SUCCESS),
        ("work/" + "n" * 256, CREAT, WRITE, Errno.NAMETOOLONG),
        ("work/" + "ü" * 128, CREAT, WRITE, Errno.NAMETOOLONG),
        ("work/" + "./" * 2044 + "f", 0, READ, Errno.SUCCESS),
        ("work/" + "./" * 2048 + "f", 0, READ, Errno.NAMETOOLONG),
        (b"work/\xff", CREAT, WRITE, Errno.ILSEQ),
        (b"work/\xed\xb3\xbf", CREAT, WRITE, Errno.ILSEQ),
        ("work/ä 日本 😊\n", CREAT, WRITE, Errno.SUCCESS),
        ("work/a\\b:c", CREAT, WRITE, Errno.SUCCESS),
        ("etc/passwd", 0, READ, Errno.NOENT),
        ("new", CREAT, WRITE, Errno.ROFS),
        ("usr/lib/new", CREAT, WRITE, Errno.ROFS),
        ("dev/new", CREAT, WRITE, Errno.ROFS),
        ("tmp/new", CREAT, WRITE, Errno.SUCCESS),
        (LIBRARY[1:], 0, READ, Errno.SUCCESS),
        (LIBRARY[1:], 0, READ_WRITE, Errno.ROFS),
        (LIBRARY[1:], TRUNC, READ, Errno.ROFS),
        ("dev/null", CREAT | TRUNC, READ_WRITE, Errno.SUCCESS),
        ("dev/null/", 0, READ, Errno.NOTDIR),
        ("work/f", 0, 1 << 30, Errno.NOTCAPABLE),
        ("work/f", 0, READ | abi.RIGHT_SOCK_ACCEPT, Errno.NOTCAPABLE),
    ],
)
def test_opening(guest: Guest, path: str | bytes, oflags: int, rights: int, errno: int) -> None:
    before = guest.charged()
    assert guest.open_errno(path, oflags=oflags, rights=rights) == errno
    if errno:
        assert guest.charged() == before
    else:
        guest.close(guest.u32())


def test_truncating_on_opening_empties_the_file(guest: Guest) -> None:
    guest.close(guest.open("work/f", oflags=TRUNC, rights=WRITE))
    assert guest.stat("work/f").size == 0


def test_a_directory_descriptor_is_the_start_of_paths(guest: Guest) -> None:
    fd = guest.open_directory("work/d")
    assert guest.read(guest.open("in", dirfd=fd), 9) == b"inside"
    guest.close(guest.open("new", dirfd=fd, oflags=CREAT, rights=WRITE))
    assert guest.stat("work/d/new").size == 0


@pytest.mark.security
def test_a_path_never_leads_above_its_descriptor(guest: Guest) -> None:
    fd = guest.open_directory("work/d")
    assert guest.stat("work/d/../f").size == 7  # the same from above is allowed
    for path in ("..", "../f", "x/../../f", "in/../../f", "./.././f", "../d/in", "/work/f"):
        errno = guest.open_errno(path, dirfd=fd)
        assert errno in (Errno.PERM, Errno.NOENT, Errno.NOTDIR), path
    assert guest.mkdir("../new", fd) == Errno.PERM
    assert guest.unlink("../f", fd) == Errno.PERM
    assert guest.rename("in", "../in", fd, fd) == Errno.PERM
    assert guest.rename("../f", "f", fd, fd) == Errno.PERM
    assert guest.stat("work/f").size == 7


def test_path_functions_need_a_directory(guest: Guest) -> None:
    file = guest.open("work/f", rights=abi.FILE_RIGHTS)
    for fd, errno in ((file, Errno.NOTDIR), (1, Errno.NOTDIR), (99, Errno.BADF)):
        assert guest.open_errno("x", dirfd=fd) == errno
        assert guest.mkdir("x", fd) == errno
        assert guest.rmdir("x", fd) == errno
        assert guest.unlink("x", fd) == errno
        assert guest.rename("x", "y", fd, ROOT) == errno
        assert guest.rename("work/f", "y", ROOT, fd) == errno
        assert guest.stat_errno("x", fd) == errno
        assert guest.call("path_readlink", fd, *guest.path("x"), 0, 0, RESULT) == errno
        assert guest.call("path_filestat_set_times", fd, 0, *guest.path("x"), 0, 0, 0) == errno


def test_every_right_of_a_directory_is_asked_for(guest: Guest) -> None:
    path, second = guest.path("f"), guest.path("new", 40_000)

    def lacking(right: int) -> int:
        return guest.open("work", oflags=DIRECTORY, rights=abi.DIRECTORY_RIGHTS & ~right)

    def refused(right: int, name: str, *arguments: int) -> None:
        assert guest.call(name, lacking(right), *arguments) == Errno.NOTCAPABLE, name

    opening = (0, *path, 0, READ, 0, 0, RESULT)
    refused(abi.RIGHT_PATH_OPEN, "path_open", *opening)
    refused(abi.RIGHT_PATH_CREATE_FILE, "path_open", 0, *second, CREAT, READ, 0, 0, RESULT)
    refused(abi.RIGHT_PATH_FILESTAT_SET_SIZE, "path_open", 0, *path, TRUNC, READ, 0, 0, RESULT)
    refused(abi.RIGHT_PATH_CREATE_DIRECTORY, "path_create_directory", *second)
    refused(abi.RIGHT_PATH_FILESTAT_GET, "path_filestat_get", 0, *path, RESULT)
    refused(abi.RIGHT_PATH_FILESTAT_SET_TIMES, "path_filestat_set_times", 0, *path, 0, 0, 0)
    refused(abi.RIGHT_PATH_READLINK, "path_readlink", *path, 0, 0, RESULT)
    refused(abi.RIGHT_PATH_REMOVE_DIRECTORY, "path_remove_directory", *path)
    refused(abi.RIGHT_PATH_UNLINK_FILE, "path_unlink_file", *path)
    all_rights = lacking(0)
    refused(abi.RIGHT_PATH_RENAME_SOURCE, "path_rename", *path, all_rights, *second)
    target = lacking(abi.RIGHT_PATH_RENAME_TARGET)
    assert guest.call("path_rename", all_rights, *path, target, *second) == Errno.NOTCAPABLE
    assert guest.listdir("work") == [b"d", b"empty", b"f"]


def test_rights_are_inherited_and_only_get_fewer(guest: Guest) -> None:
    reader = guest.open(
        "work",
        oflags=DIRECTORY,
        rights=abi.DIRECTORY_RIGHTS,
        inheriting=abi.DIRECTORY_RIGHTS | READ,
    )
    assert guest.open_errno("f", dirfd=reader, rights=READ, inheriting=0) == Errno.SUCCESS
    assert guest.open_errno("f", dirfd=reader, rights=WRITE, inheriting=0) == Errno.NOTCAPABLE
    assert guest.open_errno("d", dirfd=reader, rights=0) == Errno.NOTCAPABLE
    inner = guest.open("d", dirfd=reader, rights=abi.RIGHT_PATH_OPEN, inheriting=READ)
    assert guest.open_errno("in", dirfd=inner, rights=READ, inheriting=0) == Errno.SUCCESS
    assert guest.open_errno("in", dirfd=inner, rights=WRITE, inheriting=0) == Errno.NOTCAPABLE


def test_a_new_descriptor_has_the_rights_that_apply(guest: Guest) -> None:
    file = guest.open("work/f", rights=EVERYTHING)
    assert guest.fdstat(file)[2:] == (abi.FILE_RIGHTS, 0)
    directory = guest.open("work", rights=EVERYTHING & ~abi.RIGHT_FD_WRITE)
    assert guest.fdstat(directory)[2:] == (abi.DIRECTORY_RIGHTS, EVERYTHING)
    library = guest.open(LIBRARY[1:], rights=EVERYTHING & ~abi.RIGHT_FD_WRITE)
    assert not guest.fdstat(library)[2] & (
        abi.RIGHT_FD_WRITE | abi.RIGHT_FD_ALLOCATE | abi.RIGHT_FD_FILESTAT_SET_SIZE
    )


def test_descriptor_flags_of_opening_are_kept(guest: Guest) -> None:
    for flags in (abi.FDFLAG_APPEND, abi.FDFLAGS_ALL, 0):
        assert guest.fdstat(guest.open("work/f", fdflags=flags))[1] == flags
    assert guest.open_errno("work/f", fdflags=1 << 5) == Errno.INVAL


def test_a_bad_result_pointer_leaves_nothing_open_or_made(guest: Guest) -> None:
    before = guest.charged()
    for pointer in (MEMORY_BYTES - 3, 0xFFFF_FFFF):
        errno = guest.call(
            *("path_open", ROOT, 0, *guest.path("work/x"), CREAT, WRITE, 0, 0, pointer)
        )
        assert errno == Errno.FAULT
    assert guest.charged() == before
    assert guest.open_errno("work/x") == Errno.NOENT
    assert guest.open("work/f") == 4


def test_a_bad_path_pointer_is_a_fault(guest: Guest) -> None:
    assert guest.call("path_create_directory", ROOT, MEMORY_BYTES - 1, 2) == Errno.FAULT
    assert guest.call("path_create_directory", ROOT, 0xFFFF_FFFF, 4096) == Errno.FAULT
    assert guest.call("path_create_directory", ROOT, 0, 0xFFFF_FFFF) == Errno.NAMETOOLONG


def test_descriptors_end_at_their_number_and_at_the_budget(guest: Guest) -> None:
    count = 0
    while not (errno := guest.open_errno("work/f")):
        count += 1
    assert (errno, count) == (Errno.MFILE, MAX_DESCRIPTORS - 4)

    small = Guest(budget_bytes=64 * 1024)
    small.create("work/f")
    count = 0
    while not (errno := small.open_errno("work/f")):
        count += 1
    assert errno == Errno.MFILE
    assert small.budget.exceeded
    assert count <= 64 * 1024 // OBJECT_BYTES


# Directories


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("work/new", Errno.SUCCESS),
        ("work/new/", Errno.SUCCESS),
        ("work/d", Errno.EXIST),
        ("work/f", Errno.EXIST),
        ("work/.", Errno.EXIST),
        ("work/d/..", Errno.EXIST),
        ("work/no/new", Errno.NOENT),
        ("work/f/new", Errno.NOTDIR),
        ("new", Errno.ROFS),
        ("usr/new", Errno.ROFS),
        ("tmp/new", Errno.SUCCESS),
        ("", Errno.NOENT),
    ],
)
def test_making_a_directory(guest: Guest, path: str, errno: int) -> None:
    assert guest.mkdir(path) == errno


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("work/empty", Errno.SUCCESS),
        ("work/empty/", Errno.SUCCESS),
        ("work/d", Errno.NOTEMPTY),
        ("work/f", Errno.NOTDIR),
        ("work/no", Errno.NOENT),
        ("work/empty/.", Errno.INVAL),
        ("work/d/..", Errno.NOTEMPTY),
        ("work", Errno.ROFS),
        ("tmp", Errno.ROFS),
        ("usr", Errno.ROFS),
        ("no", Errno.NOENT),
        (".", Errno.INVAL),
    ],
)
def test_removing_a_directory(guest: Guest, path: str, errno: int) -> None:
    assert guest.rmdir(path) == errno


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("work/f", Errno.SUCCESS),
        ("work/f/", Errno.NOTDIR),
        ("work/d", Errno.ISDIR),
        ("work/d/", Errno.ISDIR),
        ("work/.", Errno.ISDIR),
        ("work/no", Errno.NOENT),
        ("work/no/", Errno.NOENT),
        ("work/f/x", Errno.NOTDIR),
        (LIBRARY[1:], Errno.ROFS),
        ("dev/null", Errno.ROFS),
    ],
)
def test_unlinking(guest: Guest, path: str, errno: int) -> None:
    assert guest.unlink(path) == errno


def test_an_unlinked_file_lives_until_its_last_descriptor_is_closed(guest: Guest) -> None:
    first = guest.open("work/f", rights=READ_WRITE)
    second = guest.open("work/f")
    before = guest.charged()
    assert guest.unlink("work/f") == 0
    assert guest.stat_errno("work/f") == Errno.NOENT
    assert guest.fstat(first).nlink == 0
    guest.write(first, b"CON")
    assert guest.read(second, 100) == b"CONtent"
    guest.create("work/f", b"another")
    assert guest.pread(first, 100, 0) == b"CONtent"
    guest.close(first)
    assert guest.pread(second, 100, 0) == b"CONtent"
    guest.close(second)
    assert guest.unlink("work/f") == 0
    assert guest.charged() < before - 2 * OBJECT_BYTES


def test_a_removed_directory_that_is_open_takes_nothing_in(guest: Guest) -> None:
    fd = guest.open_directory("work/empty")
    assert guest.rmdir("work/empty") == 0
    assert guest.open_errno("x", dirfd=fd, oflags=CREAT, rights=WRITE) == Errno.NOENT
    assert guest.mkdir("x", fd) == Errno.NOENT
    assert guest.rename("work/f", "f", ROOT, fd) == Errno.NOENT
    assert guest.open_errno("..", dirfd=fd) == Errno.PERM
    assert guest.fstat(fd).nlink == 0
    assert guest.stat("work/f").size == 7


def test_a_path_is_at_most_64_names_deep(guest: Guest) -> None:
    path = "work"
    for _ in range(63):
        path += "/s"
        assert guest.mkdir(path) == 0
    assert guest.mkdir(path + "/s") == Errno.NAMETOOLONG
    assert guest.open_errno(path + "/f", oflags=CREAT, rights=WRITE) == Errno.NAMETOOLONG
    fd = guest.open_directory(path)
    assert guest.mkdir("s", fd) == Errno.NAMETOOLONG
    assert guest.rename("work/f", "f", ROOT, fd) == Errno.NAMETOOLONG


def test_a_deep_tree_cannot_be_moved_deeper_than_the_limit(guest: Guest) -> None:
    deep, shallow = "work", "tmp/t"
    for _ in range(40):
        deep += "/s"
        assert guest.mkdir(deep) == 0
    assert guest.mkdir(shallow) == 0
    assert guest.mkdir(shallow + "/b") == 0
    for _ in range(30):
        shallow += "/s"
        assert guest.mkdir(shallow) == 0
    assert guest.rename("tmp/t/b", deep + "/b") == 0
    assert guest.rename("tmp/t", deep + "/t") == Errno.NAMETOOLONG
    assert guest.rename("tmp/t", "work/d/t") == 0


def test_link_counts_tell_the_subdirectories(guest: Guest) -> None:
    assert guest.stat("work/d").nlink == 2
    assert guest.mkdir("work/d/a") == guest.mkdir("work/d/b") == 0
    assert guest.stat("work/d").nlink == 4
    assert guest.rename("work/d/a", "work/empty/a") == 0
    assert guest.rmdir("work/d/b") == 0
    assert guest.stat("work/d").nlink == 2
    assert guest.stat("work/empty").nlink == 3
    assert guest.stat("work/f").nlink == 1


# Renaming


@pytest.mark.parametrize(
    ("old", "new", "errno"),
    [
        ("work/f", "work/g", Errno.SUCCESS),
        ("work/f", "work/d/in", Errno.SUCCESS),
        ("work/f", "work/f", Errno.SUCCESS),
        ("work/f", "tmp/f", Errno.SUCCESS),
        ("work/f", "work/empty", Errno.ISDIR),
        ("work/f", "work/g/", Errno.NOTDIR),
        ("work/f/", "work/g", Errno.NOTDIR),
        ("work/no", "work/g", Errno.NOENT),
        ("work/f", "work/no/g", Errno.NOENT),
        ("work/f", "work/f/g", Errno.NOTDIR),
        ("work/d", "work/g", Errno.SUCCESS),
        ("work/d/", "work/g/", Errno.SUCCESS),
        ("work/d", "work/empty", Errno.SUCCESS),
        ("work/empty", "work/d", Errno.NOTEMPTY),
        ("work/d", "work/f", Errno.NOTDIR),
        ("work/d", "work/d", Errno.SUCCESS),
        ("work/d", "work/d/sub", Errno.INVAL),
        ("work/d", "work/d/in", Errno.INVAL),
        ("work/d/.", "work/g", Errno.BUSY),
        ("work/d", "work/empty/..", Errno.BUSY),
        ("work", "tmp/w", Errno.ROFS),
        ("work/f", "f", Errno.ROFS),
        (LIBRARY[1:], "work/l", Errno.ROFS),
        ("work/f", "usr/lib/f", Errno.ROFS),
        ("dev/null", "work/null", Errno.ROFS),
    ],
)
def test_renaming(guest: Guest, old: str, new: str, errno: int) -> None:
    before = guest.charged()
    assert guest.rename(old, new) == errno
    if errno:
        assert guest.charged() == before
        assert guest.content("work/f") == b"content"
        assert guest.content("work/d/in") == b"inside"


def test_renaming_over_a_file_replaces_it(guest: Guest) -> None:
    old = guest.open("work/d/in")
    inode = guest.stat("work/f").inode
    assert guest.rename("work/f", "work/d/in") == 0
    assert guest.content("work/d/in") == b"content"
    assert guest.stat("work/d/in").inode == inode
    assert guest.stat_errno("work/f") == Errno.NOENT
    assert guest.read(old, 100) == b"inside"


def test_renaming_relative_to_directory_descriptors(guest: Guest) -> None:
    d, empty = guest.open_directory("work/d"), guest.open_directory("work/empty")
    assert guest.rename("in", "out", d, d) == 0
    assert guest.rename("out", "moved", d, empty) == 0
    assert guest.content("work/empty/moved") == b"inside"


def test_renaming_sets_the_times_of_both_directories(guest: Guest) -> None:
    for path in ("work/d", "work/empty", "work/d/in"):
        guest.ok("path_filestat_set_times", ROOT, 0, *guest.path(path), 0, 5, abi.FSTFLAG_MTIM)
    assert guest.rename("work/d/in", "work/empty/in") == 0
    assert guest.stat("work/d").mtime_ns > 5
    assert guest.stat("work/empty").mtime_ns > 5
    assert guest.stat("work/empty/in").mtime_ns == 5


# Attributes


def test_attributes_by_name(guest: Guest) -> None:
    assert guest.stat("work/f").filetype == abi.FileType.REGULAR_FILE
    assert guest.stat("work/d/").filetype == abi.FileType.DIRECTORY
    assert guest.stat("dev/null").filetype == abi.FileType.CHARACTER_DEVICE
    assert guest.stat(LIBRARY[1:]).size == len(b"PK library")
    assert guest.stat_errno("work/f/") == Errno.NOTDIR
    assert guest.stat_errno("work/no") == Errno.NOENT
    assert guest.call("path_filestat_get", ROOT, 2, *guest.path("work"), RESULT) == Errno.INVAL
    inodes = [guest.stat(p).inode for p in (".", "work", "tmp", "work/f", "work/d", "work/d/in")]
    assert len(set(inodes)) == len(inodes)


def test_times_by_name(guest: Guest) -> None:
    flags = abi.FSTFLAG_ATIM | abi.FSTFLAG_MTIM
    guest.ok("path_filestat_set_times", ROOT, 1, *guest.path("work/f"), 7, 8, flags)
    assert (guest.stat("work/f").atime_ns, guest.stat("work/f").mtime_ns) == (7, 8)
    call = "path_filestat_set_times"
    assert guest.call(call, ROOT, 0, *guest.path("work/no"), 7, 8, flags) == Errno.NOENT
    assert guest.call(call, ROOT, 0, *guest.path("usr"), 7, 8, flags) == Errno.ROFS
    assert guest.call(call, ROOT, 0, *guest.path("work/f"), 7, 8, 3) == Errno.INVAL
    assert guest.call(call, ROOT, 2, *guest.path("work/f"), 7, 8, flags) == Errno.INVAL


# Links


def test_nothing_is_a_link(guest: Guest) -> None:
    for path, errno in (("work/f", Errno.INVAL), ("work/d", Errno.INVAL), ("work/no", Errno.NOENT)):
        assert guest.call("path_readlink", ROOT, *guest.path(path), 0, 99, RESULT) == errno
    assert guest.denied.entries() == ()


@pytest.mark.security
def test_links_are_refused_and_recorded(guest: Guest) -> None:
    new = guest.path("work/l", 40_000)
    target = guest.path("/etc/passwd")
    assert guest.call("path_symlink", *target, ROOT, *new) == Errno.PERM
    assert guest.call("path_link", ROOT, 0, *guest.path("work/f"), ROOT, *new) == Errno.PERM
    assert guest.stat_errno("work/l") == Errno.NOENT
    assert guest.denied.entries() == (
        Denied("path_symlink", "work/l -> /etc/passwd", "wasi.links"),
        Denied("path_link", "work/l -> work/f", "wasi.links"),
    )
    assert guest.call("path_symlink", *target, 99, *new) == Errno.BADF
    assert guest.call("path_link", 99, 0, *target, ROOT, *new) == Errno.BADF
    assert guest.call("path_symlink", 0xFFFF_FFFF, 9, ROOT, *new) == Errno.FAULT


@pytest.mark.security
def test_refused_paths_are_recorded_with_their_rule(guest: Guest) -> None:
    assert guest.open_errno("work/../../etc/passwd") == Errno.PERM
    for _ in range(3):
        assert guest.mkdir("etc") == Errno.ROFS
    assert guest.open_errno(LIBRARY[1:], rights=WRITE) == Errno.ROFS
    fd = guest.open(LIBRARY[1:], rights=READ | abi.RIGHT_FD_FILESTAT_SET_TIMES)
    assert guest.call("fd_filestat_set_times", fd, 0, 0, abi.FSTFLAG_MTIM_NOW) == Errno.ROFS
    assert guest.denied.entries() == (
        Denied("path_open", "work/../../etc/passwd", "wasi.path_escape"),
        Denied("path_create_directory", "etc", "wasi.read_only", 3),
        Denied("path_open", LIBRARY[1:], "wasi.read_only"),
        Denied("fd_filestat_set_times", f"descriptor {fd}", "wasi.read_only"),
    )


def test_a_tree_made_and_removed_gives_its_bytes_back(guest: Guest) -> None:
    before = guest.charged()
    for d in range(5):
        assert guest.mkdir(f"work/t{d}") == 0
        for f in range(120):
            guest.create(f"work/t{d}/{f}", b"x" * f * 100)
    for d in range(5):
        for name in guest.listdir(f"work/t{d}", 512):
            assert guest.unlink(f"work/t{d}/".encode() + name) == 0
        assert guest.rmdir(f"work/t{d}") == 0
    assert guest.charged() == before
