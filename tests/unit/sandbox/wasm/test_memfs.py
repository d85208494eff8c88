from __future__ import annotations

import contextlib
import errno as host_errno
import gc
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nova_desktop.model import KIB, MIB
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.memfs import MAX_READ_BYTES, MemoryFileSystem, WorkEntry
from nova_desktop.sandbox.wasm.memfs_nodes import MAX_DEPTH, OBJECT_BYTES, RegularFile
from tests.fakes.wasi_guest import READ, READ_WRITE, WRITE, CallFailed, Guest

# Staging


@pytest.fixture
def budget() -> MemoryBudget:
    return MemoryBudget(64 * MIB)


@pytest.fixture
def files(budget: MemoryBudget) -> MemoryFileSystem:
    return MemoryFileSystem(budget, {"/usr/lib/a.zip": b"A", "/usr/lib/b.zip": b"B"})


def entries(files: MemoryFileSystem) -> dict[str, WorkEntry]:
    return {entry.path: entry for entry in files.walk()}


def test_what_is_staged_is_walked_depth_first_and_sorted(files: MemoryFileSystem) -> None:
    files.stage_file("b.txt", b"b", mode=0o600, mtime_ns=7)
    files.stage_directory("a/z", mode=0o700, mtime_ns=9)
    files.stage_file("a/z/in", b"")
    files.stage_file("a/é", b"e")
    files.stage_file("a-", b"")
    assert [entry.path for entry in files.walk()] == ["a", "a/z", "a/z/in", "a/é", "a-", "b.txt"]
    b, z, a = (entries(files)[path] for path in ("b.txt", "a/z", "a"))
    assert (b.size, b.mode, b.mtime_ns, b.staged_as) == (1, 0o600, 7, "b.txt")
    assert (z.is_directory, z.mode, z.mtime_ns, z.staged_as) == (True, 0o700, 9, "a/z")
    assert (a.is_directory, a.mode, a.staged_as) == (True, 0o755, "a")
    assert not any(entry.content_changed for entry in files.walk())
    assert b.read() == b"b"
    assert z.read() == b""


def test_staging_is_charged_for_bytes_and_objects(
    files: MemoryFileSystem, budget: MemoryBudget
) -> None:
    assert budget.charged == 0
    files.stage_file("name", bytes(1000))
    assert budget.charged == 2 * OBJECT_BYTES + 4 + 1000
    files.stage_directory("d")
    assert budget.charged == 4 * OBJECT_BYTES + 5 + 1000


def test_staging_over_the_budget_makes_nothing(files: MemoryFileSystem) -> None:
    files = MemoryFileSystem(MemoryBudget(10 * KIB))
    with pytest.raises(BudgetExceeded):
        files.stage_file("big", bytes(10 * KIB))
    assert list(files.walk()) == []


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("", Errno.INVAL),
        (".", Errno.INVAL),
        ("a/../b", Errno.INVAL),
        ("/a", Errno.INVAL),
        ("a//b", Errno.INVAL),
        ("a/", Errno.INVAL),
        ("a\0b", Errno.INVAL),
        ("\udcff", Errno.ILSEQ),
        ("\udcff/x", Errno.ILSEQ),
        ("n" * 256, Errno.NAMETOOLONG),
        ("d/" * (MAX_DEPTH - 1) + "f", Errno.NAMETOOLONG),
        ("file/x", Errno.NOTDIR),
        ("file", Errno.EXIST),
    ],
)
def test_a_path_that_no_guest_could_use_is_not_staged(
    files: MemoryFileSystem, path: str, errno: int
) -> None:
    files.stage_file("file", b"")
    with pytest.raises(WasiError) as error:
        files.stage_file(path, b"")
    assert error.value.errno == errno
    if path != "file":
        with pytest.raises(WasiError):
            files.stage_directory(path)


def test_staging_the_deepest_path(files: MemoryFileSystem) -> None:
    files.stage_file("d/" * (MAX_DEPTH - 2) + "f", b"deep")
    assert list(files.walk())[-1].read() == b"deep"


def test_content_is_shared_with_who_staged_it(files: MemoryFileSystem) -> None:
    content = bytes(200 * KIB)
    files.stage_file("f", content)
    node = files.lookup(files.work, b"f").node
    assert isinstance(node, RegularFile)
    view = node.read(0, len(content))
    assert isinstance(view, memoryview)
    assert view.obj is content


def test_what_the_guest_does_is_seen_in_the_walk() -> None:
    guest = Guest()
    files = guest.files
    for name in ("kept", "written", "touched", "moved", "emptied", "removed"):
        files.stage_file(f"d/{name}", name.encode(), mode=0o640, mtime_ns=5)
    guest.pwrite(guest.open("work/d/written", rights=WRITE), b"W", 0)
    guest.open("work/d/touched", rights=WRITE)
    assert guest.rename("work/d/moved", "work/moved") == 0
    guest.close(guest.open("work/d/emptied", oflags=abi.OFLAG_TRUNC, rights=WRITE))
    assert guest.unlink("work/d/removed") == 0
    guest.create("work/d/made", b"new")
    guest.create("tmp/not-in-work", b"x")
    after = entries(files)
    assert sorted(after) == [
        "d",
        "d/emptied",
        "d/kept",
        "d/made",
        "d/touched",
        "d/written",
        "moved",
    ]
    assert {path for path, entry in after.items() if entry.content_changed} == {
        "d/emptied",
        "d/made",
        "d/written",
    }
    assert after["d/written"].read() == b"Written"
    assert after["moved"].staged_as == "d/moved"
    assert (after["moved"].mode, after["moved"].mtime_ns) == (0o640, 5)
    assert (after["d/made"].staged_as, after["d/made"].mode) == (None, 0o644)


def test_a_sparse_file_is_read_in_extents_and_never_whole() -> None:
    guest = Guest()
    fd = guest.open("work/sparse", oflags=abi.OFLAG_CREAT, rights=READ_WRITE)
    guest.pwrite(fd, b"middle", 1 << 39)
    guest.ok("fd_filestat_set_size", fd, 1 << 40)
    entry = entries(guest.files)["sparse"]
    assert entry.size == 1 << 40 > MAX_READ_BYTES
    with pytest.raises(OverflowError):
        entry.read()
    extents = [(at, bytes(data).rstrip(b"\0")) for at, data in entry.extents()]
    assert extents == [(1 << 39, b"middle")]


def test_extents_and_chunks_tell_the_same_as_reading() -> None:
    guest = Guest()
    guest.files.stage_file("f", os.urandom(150 * KIB))
    fd = guest.open("work/f", rights=READ_WRITE)
    guest.pwrite(fd, b"changed", 70 * KIB)
    guest.pwrite(fd, b"far", 400 * KIB)
    entry = entries(guest.files)["f"]
    whole = bytearray(entry.size)
    for at, data in entry.extents():
        assert len(data) <= 64 * KIB
        whole[at : at + len(data)] = data
    assert whole == entry.read() == b"".join(entry.chunks())
    directory = entries_of_directory()
    assert (list(directory.extents()), list(directory.chunks())) == ([], [])


def entries_of_directory() -> WorkEntry:
    files = MemoryFileSystem(MemoryBudget(MIB))
    files.stage_directory("d")
    return next(iter(files.walk()))


def test_times_before_1970_and_after_2554_do_not_break_the_guest() -> None:
    guest = Guest()
    guest.files.stage_file("old", b"", mtime_ns=-1)
    guest.files.stage_file("late", b"", mtime_ns=1 << 70)
    assert guest.stat("work/old").mtime_ns == 0
    assert guest.stat("work/late").mtime_ns == (1 << 64) - 1
    assert entries(guest.files)["old"].mtime_ns == -1


def test_read_only_files_are_shared_and_free(files: MemoryFileSystem, budget: MemoryBudget) -> None:
    content = bytes(MIB)
    other = MemoryFileSystem(budget, {"/usr/lib/python313.zip": content})
    node = other.lookup(other.root, b"usr/lib/python313.zip").node
    assert isinstance(node, RegularFile)
    view = node.read(0, MIB)
    assert isinstance(view, memoryview)
    assert view.obj is content
    assert budget.charged == 0
    assert files.lookup(files.root, b"usr/lib/b.zip").existing().size == 1


def test_the_files_of_a_run_go_with_it_and_wait_for_no_collector() -> None:
    guest = Guest()
    guest.files.stage_file("a/b/c", bytes(MIB))
    guest.open_directory("work/a/b")
    root = weakref.ref(guest.files.root)
    inner = weakref.ref(guest.files.lookup(guest.files.work, b"a/b").node)
    gc.disable()
    try:
        del guest
        assert root() is None
        assert inner() is None
    finally:
        gc.enable()


# Compared with the operating system


NAMES = st.sampled_from(["a", "b", "c", "a/a", "a/b", "b/a", "b/c", "a/b/c", "a/b/a"])
PATHS = st.one_of(
    NAMES,
    NAMES,
    NAMES.map(lambda name: name + "/"),
    NAMES.map(lambda name: name + "/."),
    NAMES.map(lambda name: name + "/.."),
    NAMES.map(lambda name: name + "/../a"),
    st.just("."),
)
DATA = st.binary(max_size=20)
# Around the borders of chunks, where mistakes are made.
OFFSETS = st.one_of(st.integers(0, 40), st.integers(65_530, 65_545), st.integers(131_060, 131_080))
OPEN_FLAGS = st.builds(
    lambda mode, extra: mode | sum(extra),
    st.sampled_from([os.O_RDONLY, os.O_WRONLY, os.O_RDWR]),
    st.sets(st.sampled_from([os.O_CREAT, os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND])),
)
SLOT = st.integers(0, 3)
OPERATIONS = st.one_of(
    st.tuples(st.just("open"), PATHS, OPEN_FLAGS),
    st.tuples(st.just("open"), NAMES, st.just(os.O_RDWR | os.O_CREAT)),
    st.tuples(st.just("open"), PATHS, st.just(os.O_RDONLY | os.O_DIRECTORY)),
    st.tuples(st.just("mkdir"), PATHS),
    st.tuples(st.just("mkdir"), st.sampled_from(["a", "b", "a/b"])),
    st.tuples(st.just("rmdir"), PATHS),
    st.tuples(st.just("unlink"), PATHS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("stat"), PATHS),
    st.tuples(st.just("list"), PATHS),
    st.tuples(st.just("write"), SLOT, DATA),
    st.tuples(st.just("pwrite"), SLOT, DATA, OFFSETS),
    st.tuples(st.just("read"), SLOT, OFFSETS),
    st.tuples(st.just("pread"), SLOT, st.integers(0, 70_000), OFFSETS),
    st.tuples(st.just("seek"), SLOT, st.integers(-70_000, 70_000), st.integers(0, 2)),
    st.tuples(st.just("truncate"), SLOT, OFFSETS),
    st.tuples(st.just("close"), SLOT),
)


STAGED = {"a": None, "a/b": None, "b": None, "a/a": bytes(range(256)) * 600, "c": b"a short one"}
"""What both sides start with; one file has three chunks."""


class HostSide:
    """The operations as a program on this machine would do them, below one folder."""

    def __init__(self, folder: str) -> None:
        for path, content in STAGED.items():
            if content is None:
                Path(folder, path).mkdir()
            else:
                Path(folder, path).write_bytes(content)
        self.root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self.fds: list[int] = []

    def open(self, path: str, flags: int) -> None:
        self.fds.append(os.open(path, flags, 0o666, dir_fd=self.root))

    def mkdir(self, path: str) -> None:
        os.mkdir(path, dir_fd=self.root)

    def rmdir(self, path: str) -> None:
        os.rmdir(path, dir_fd=self.root)

    def unlink(self, path: str) -> None:
        os.unlink(path, dir_fd=self.root)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=self.root, dst_dir_fd=self.root)

    def stat(self, path: str) -> object:
        stat = os.stat(path, dir_fd=self.root)
        directory = bool(stat.st_mode & 0o040000)
        return directory, 0 if directory else stat.st_size, stat.st_nlink

    def list(self, path: str) -> object:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.root)
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    def write(self, slot: int, data: bytes) -> object:
        return os.write(self.fds[slot], data)

    def pwrite(self, slot: int, data: bytes, offset: int) -> object:
        return os.pwrite(self.fds[slot], data, offset)

    def read(self, slot: int, length: int) -> object:
        return os.read(self.fds[slot], length)

    def pread(self, slot: int, length: int, offset: int) -> object:
        return os.pread(self.fds[slot], length, offset)

    def seek(self, slot: int, offset: int, whence: int) -> object:
        return os.lseek(self.fds[slot], offset, whence)

    def truncate(self, slot: int, size: int) -> None:
        os.ftruncate(self.fds[slot], size)

    def close(self, slot: int) -> None:
        os.close(self.fds.pop(slot))

    def close_all(self) -> None:
        for fd in (*self.fds, self.root):
            os.close(fd)


class GuestSide:
    """The same through the WASI functions, below ``/work``."""

    def __init__(self) -> None:
        self.guest = Guest(memory_bytes=MIB)
        for path, content in STAGED.items():
            if content is None:
                self.guest.files.stage_directory(path)
            else:
                self.guest.files.stage_file(path, content)
        self.root = self.guest.open_directory("work")
        self.fds: list[int] = []

    def open(self, path: str, flags: int) -> None:
        oflags = (
            (abi.OFLAG_CREAT if flags & os.O_CREAT else 0)
            | (abi.OFLAG_EXCL if flags & os.O_EXCL else 0)
            | (abi.OFLAG_TRUNC if flags & os.O_TRUNC else 0)
            | (abi.OFLAG_DIRECTORY if flags & os.O_DIRECTORY else 0)
        )
        rights = {os.O_RDONLY: READ, os.O_WRONLY: WRITE, os.O_RDWR: READ_WRITE}[
            flags & (os.O_WRONLY | os.O_RDWR)
        ]
        fdflags = abi.FDFLAG_APPEND if flags & os.O_APPEND else 0
        self.fds.append(
            self.guest.open(path, dirfd=self.root, oflags=oflags, rights=rights, fdflags=fdflags)
        )

    def _done(self, errno: int) -> None:
        if errno:
            raise CallFailed(f"call: {Errno(errno).name}")

    def mkdir(self, path: str) -> None:
        self._done(self.guest.mkdir(path, self.root))

    def rmdir(self, path: str) -> None:
        self._done(self.guest.rmdir(path, self.root))

    def unlink(self, path: str) -> None:
        self._done(self.guest.unlink(path, self.root))

    def rename(self, old: str, new: str) -> None:
        self._done(self.guest.rename(old, new, self.root, self.root))

    def stat(self, path: str) -> object:
        stat = self.guest.stat(path, self.root)
        return stat.filetype == abi.FileType.DIRECTORY, stat.size, stat.nlink

    def list(self, path: str) -> object:
        fd = self.guest.open_directory(path, self.root)
        names = [name.decode() for _, _, _, name in self.guest.readdir(fd, 0, 60_000)]
        self.guest.close(fd)
        assert names[:2] == [".", ".."]
        return sorted(names[2:])

    def write(self, slot: int, data: bytes) -> object:
        return self.guest.write(self.fds[slot], data)

    def pwrite(self, slot: int, data: bytes, offset: int) -> object:
        return self.guest.pwrite(self.fds[slot], data, offset)

    def read(self, slot: int, length: int) -> object:
        return self.guest.read(self.fds[slot], length)

    def pread(self, slot: int, length: int, offset: int) -> object:
        return self.guest.pread(self.fds[slot], length, offset)

    def seek(self, slot: int, offset: int, whence: int) -> object:
        return self.guest.seek(self.fds[slot], offset, whence)

    def truncate(self, slot: int, size: int) -> None:
        self._done(self.guest.call("fd_filestat_set_size", self.fds[slot], size))

    def close(self, slot: int) -> None:
        self.guest.close(self.fds.pop(slot))


def outcome(operation: Callable[..., object], arguments: tuple[object, ...]) -> object:
    """The result, or the name of the error."""
    try:
        return operation(*arguments) or None
    except OSError as error:
        return host_errno.errorcode[error.errno or 0]
    except CallFailed as error:
        return "E" + str(error).rpartition(" ")[2]


SAME = [
    # The C library turns a missing right into what POSIX says of a wrongly opened descriptor.
    ({"EBADF", "EISDIR", "EINVAL", "ESPIPE"}, "ENOTCAPABLE"),
    # POSIX allows both for a file that is renamed over a directory that holds it.
    ({"ENOTEMPTY"}, "EISDIR"),
]


def agree(host: object, guest: object) -> bool:
    return host == guest or any(host in hosts and guest == ours for hosts, ours in SAME)


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux: compares with its errnos")
@settings(
    max_examples=int(os.environ.get("NOVA_FUZZ_EXAMPLES", "120")),
    deadline=None,
    database=None,
    derandomize="NOVA_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(OPERATIONS, min_size=20, max_size=60))
def test_random_operations_do_what_the_operating_system_does(
    operations: list[tuple[object, ...]],
) -> None:
    folder = tempfile.mkdtemp()
    guest = GuestSide()
    host = HostSide(folder)
    try:
        for name, *arguments in operations:
            slot = arguments[0]
            if isinstance(slot, int):
                if slot >= len(host.fds):
                    continue
                # Reading positions of directories mean nothing here.
                if os.path.isdir(f"/proc/self/fd/{host.fds[slot]}") and name == "seek":
                    continue
            expected = outcome(getattr(host, str(name)), tuple(arguments))
            got = outcome(getattr(guest, str(name)), tuple(arguments))
            assert agree(expected, got), f"{name}{tuple(arguments)}: {expected} but {got}"
        assert_same_tree(Path(folder), guest)
    finally:
        host.close_all()
        shutil.rmtree(folder)


def assert_same_tree(folder: Path, side: GuestSide) -> None:
    expected = {
        str(path.relative_to(folder)): path.stat().st_nlink if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }
    found = {
        entry.path: side.guest.stat("work/" + entry.path).nlink
        if entry.is_directory
        else entry.read()
        for entry in side.guest.files.walk()
    }
    assert found == expected
    remove_everything(side.guest)


def remove_everything(guest: Guest) -> None:
    """Close and remove all; then nothing may be charged any more."""
    for fd in range(4, 100):
        with contextlib.suppress(CallFailed):
            guest.close(fd)
    for entry in reversed(list(guest.files.walk())):
        remove = guest.rmdir if entry.is_directory else guest.unlink
        assert remove("work/" + entry.path) == 0
    assert guest.charged() == 0
