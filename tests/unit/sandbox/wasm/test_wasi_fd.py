from __future__ import annotations

import pytest

from nova_desktop.model import MIB, Stream
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.errno import Errno
from nova_desktop.sandbox.wasm.memfs_nodes import MAX_FILE_BYTES
from nova_desktop.sandbox.wasm.wasi_fd import MAX_LISTING_BYTES
from tests.fakes.wasi_guest import (
    MEMORY_BYTES,
    READ,
    READ_WRITE,
    ROOT,
    WRITE,
    Guest,
)

CREATE = abi.OFLAG_CREAT
OUT_OF_MEMORY = MEMORY_BYTES
RESULT = 64
BIG = (1 << 64) - 1


@pytest.fixture
def guest() -> Guest:
    return Guest()


def opened(
    guest: Guest, content: bytes = b"", *, rights: int = READ_WRITE, fdflags: int = 0
) -> int:
    guest.create("work/f", content)
    return guest.open("work/f", rights=rights, fdflags=fdflags)


# Reading and writing


def test_what_is_written_is_read_back(guest: Guest) -> None:
    fd = opened(guest)
    assert guest.write(fd, b"hello") == 5
    assert guest.tell(fd) == 5
    assert guest.read(fd, 100) == b""
    guest.seek(fd, 0)
    assert guest.read(fd, 3) == b"hel"
    assert guest.read(fd, 100) == b"lo"


def test_vectors_are_gathered_and_scattered_in_order(guest: Guest) -> None:
    fd = opened(guest)
    guest.memory.write(100_000, b"abcdef")
    guest.ok(
        "fd_write", fd, *guest.vectors((100_000, 2), (100_005, 1), (0, 0), (100_002, 3)), RESULT
    )
    assert guest.u32() == 6
    guest.seek(fd, 0)
    guest.ok("fd_read", fd, *guest.vectors((200_000, 1), (0, 0), (300_000, 50)), RESULT)
    assert guest.u32() == 6
    assert guest.memory.read(200_000, 1) + guest.memory.read(300_000, 5) == b"abfcde"


def test_a_vector_list_may_be_empty(guest: Guest) -> None:
    fd = opened(guest, b"x")
    for name in ("fd_read", "fd_write"):
        guest.ok(name, fd, 0, 0, RESULT)
        assert guest.u32() == 0


def test_reads_and_writes_at_an_offset_leave_the_position(guest: Guest) -> None:
    fd = opened(guest, b"abcdef")
    assert guest.pread(fd, 2, 3) == b"de"
    assert guest.pwrite(fd, b"XY", 1) == 2
    assert guest.tell(fd) == 0
    assert guest.read(fd, 9) == b"aXYdef"


def test_append_writes_at_the_end_and_reads_anywhere(guest: Guest) -> None:
    fd = opened(guest, b"", fdflags=abi.FDFLAG_APPEND)
    guest.write(fd, b"abc")
    guest.seek(fd, 0)
    assert guest.read(fd, 9) == b"abc"
    guest.seek(fd, 0)
    guest.write(fd, b"d")
    assert guest.tell(fd) == 4
    assert guest.content("work/f") == b"abcd"


def test_append_can_be_switched_on_later(guest: Guest) -> None:
    fd = opened(guest, b"abc")
    guest.ok("fd_fdstat_set_flags", fd, abi.FDFLAG_APPEND)
    guest.write(fd, b"d")
    assert guest.content("work/f") == b"abcd"


def test_writing_past_the_end_leaves_zeros(guest: Guest) -> None:
    fd = opened(guest, b"ab")
    guest.seek(fd, 5)
    guest.write(fd, b"z")
    assert guest.content("work/f") == b"ab\0\0\0z"


def test_two_descriptors_have_positions_of_their_own(guest: Guest) -> None:
    first = opened(guest, b"abc")
    second = guest.open("work/f")
    assert guest.read(first, 2) == b"ab"
    assert guest.read(second, 1) == b"a"


def test_a_long_transfer_is_cut_at_four_mebibytes() -> None:
    guest = Guest(memory_bytes=16 * MIB)
    fd = opened(guest)
    guest.ok("fd_write", fd, *guest.vectors((MIB, 3 * MIB), (MIB, 3 * MIB)), RESULT)
    assert guest.u32() == 4 * MIB
    guest.pwrite(fd, b"end", 5 * MIB)
    guest.seek(fd, 0)
    guest.ok("fd_read", fd, *guest.vectors((MIB, 3 * MIB), (5 * MIB, 10 * MIB)), RESULT)
    assert guest.u32() == 4 * MIB
    assert guest.tell(fd) == 4 * MIB


def test_output_is_passed_on_in_one_piece_with_its_stream(guest: Guest) -> None:
    guest.memory.write(100_000, b"hello\n")
    guest.ok("fd_write", 1, *guest.vectors((100_000, 5), (100_005, 1)), RESULT)
    guest.write(2, b"oops")
    guest.write(1, b"")
    assert guest.output == [(Stream.STDOUT, b"hello\n"), (Stream.STDERR, b"oops")]


def test_standard_input_is_read_to_its_end() -> None:
    guest = Guest(stdin=b"line 1\nline 2\n")
    assert guest.read(0, 7) == b"line 1\n"
    assert guest.read(0, 100) == b"line 2\n"
    assert guest.read(0, 100) == b""


def test_standard_input_without_data_is_at_its_end(guest: Guest) -> None:
    assert guest.read(0, 100) == b""


def test_the_null_device_swallows_and_is_empty(guest: Guest) -> None:
    fd = guest.open("dev/null", rights=READ_WRITE)
    assert guest.write(fd, b"gone") == 4
    assert guest.read(fd, 10) == b""
    assert guest.fstat(fd).filetype == abi.FileType.CHARACTER_DEVICE


def test_a_bad_pointer_is_found_before_anything_is_done(guest: Guest) -> None:
    fd = opened(guest, b"abcdef")
    good = guest.vectors((100_000, 2))
    for name in ("fd_read", "fd_write"):
        assert guest.call(name, fd, *good, OUT_OF_MEMORY - 3) == Errno.FAULT
        bad = guest.vectors((100_000, 2), (OUT_OF_MEMORY - 1, 2))
        guest.memory.write(100_000, b"??")
        assert guest.call(name, fd, *bad, RESULT) == Errno.FAULT
        assert guest.call(name, fd, OUT_OF_MEMORY - 4, 1, RESULT) == Errno.FAULT
        assert guest.memory.read(100_000, 2) == b"??"
    assert guest.tell(fd) == 0
    assert guest.content("work/f") == b"abcdef"


def test_pointers_near_four_gibibytes_do_not_wrap(guest: Guest) -> None:
    fd = opened(guest, b"abcdef")
    for pointer in (0xFFFF_FFFF, 0xFFFF_FFF0, 0x8000_0000):
        assert guest.call("fd_read", fd, *guest.vectors((pointer, 64)), RESULT) == Errno.FAULT
        assert guest.call("fd_write", fd, *guest.vectors((pointer, 64)), RESULT) == Errno.FAULT
        assert guest.call("fd_read", fd, pointer, 1, RESULT) == Errno.FAULT
        assert guest.call("fd_read", fd, *guest.vectors((64, 1)), pointer) == Errno.FAULT


def test_more_than_1024_vectors_are_refused(guest: Guest) -> None:
    fd = opened(guest, b"x")
    for name in ("fd_read", "fd_write"):
        assert guest.call(name, fd, 0, 1025, RESULT) == Errno.INVAL
        guest.ok(name, fd, 500_000, 1024, RESULT)
    for name in ("fd_pread", "fd_pwrite"):
        assert guest.call(name, fd, 0, 0xFFFF_FFFF, 0, RESULT) == Errno.INVAL


def test_a_file_cannot_pass_one_tebibyte(guest: Guest) -> None:
    fd = opened(guest)
    guest.seek(fd, MAX_FILE_BYTES - 1)
    assert guest.write_errno(fd, b"xy") == Errno.FBIG
    assert guest.write(fd, b"x") == 1
    assert guest.fstat(fd).size == MAX_FILE_BYTES
    assert guest.charged() < 70_000


def test_a_full_budget_is_no_space_and_keeps_what_was_there() -> None:
    guest = Guest(budget_bytes=MIB)
    fd = opened(guest, b"kept")
    guest.seek(fd, 0, abi.Whence.END)
    assert guest.write_errno(fd, bytes(MIB)) == Errno.NOSPC
    assert guest.budget.exceeded
    assert guest.content("work/f") == b"kept"
    assert guest.tell(fd) == 4


# Position


@pytest.mark.parametrize(
    ("offset", "whence", "expected"),
    [
        (2, abi.Whence.SET, 2),
        (2, abi.Whence.CUR, 5),
        (-3, abi.Whence.CUR, 0),
        (0, abi.Whence.CUR, 3),
        (-1, abi.Whence.END, 5),
        (10, abi.Whence.END, 16),
        ((1 << 63) - 1, abi.Whence.SET, (1 << 63) - 1),
    ],
)
def test_seeking(guest: Guest, offset: int, whence: int, expected: int) -> None:
    fd = opened(guest, b"abcdef")
    guest.seek(fd, 3)
    assert guest.seek(fd, offset, whence) == expected
    assert guest.tell(fd) == expected


@pytest.mark.parametrize(
    ("offset", "whence"),
    [(-1, 0), (-4, 1), (-7, 2), ((1 << 63) - 1, 1), (0, 3), (0, 255), (-(1 << 63), 1)],
)
def test_seeking_where_no_byte_can_be_is_invalid(guest: Guest, offset: int, whence: int) -> None:
    fd = opened(guest, b"abcdef")
    guest.seek(fd, 3)
    assert guest.call("fd_seek", fd, offset & BIG, whence, RESULT) == Errno.INVAL
    assert guest.tell(fd) == 3


def test_a_seek_whose_answer_cannot_be_written_does_not_move(guest: Guest) -> None:
    fd = opened(guest, b"abcdef")
    assert guest.call("fd_seek", fd, 3, 0, OUT_OF_MEMORY - 7) == Errno.FAULT
    assert guest.tell(fd) == 0


def test_streams_cannot_seek(guest: Guest) -> None:
    for fd in (0, 1, 2):
        assert guest.call("fd_seek", fd, 0, abi.Whence.CUR, RESULT) == Errno.NOTCAPABLE
        assert guest.call("fd_tell", fd, RESULT) == Errno.NOTCAPABLE


def test_streams_are_no_terminals(guest: Guest) -> None:
    """The guest's C library: a character device that can neither seek nor tell is one."""
    for fd in (0, 1, 2, guest.open("dev/null")):
        filetype, _, rights, _ = guest.fdstat(fd)
        terminal = filetype == abi.FileType.CHARACTER_DEVICE and not rights & (
            abi.RIGHT_FD_SEEK | abi.RIGHT_FD_TELL
        )
        assert not terminal


# Size


def test_truncating_and_growing_again_shows_zeros(guest: Guest) -> None:
    fd = opened(guest, b"abcdef")
    guest.ok("fd_filestat_set_size", fd, 2)
    guest.ok("fd_filestat_set_size", fd, 5)
    assert guest.content("work/f") == b"ab\0\0\0"


def test_size_errors(guest: Guest) -> None:
    fd = opened(guest)
    assert guest.call("fd_filestat_set_size", fd, MAX_FILE_BYTES + 1) == Errno.FBIG
    assert guest.call("fd_filestat_set_size", fd, 1 << 63) == Errno.INVAL
    null = guest.open("dev/null", rights=READ_WRITE)
    assert guest.call("fd_filestat_set_size", null, 0) == Errno.INVAL


def test_allocation_extends_and_never_shortens(guest: Guest) -> None:
    fd = opened(guest, b"abc")
    guest.ok("fd_allocate", fd, 10, 10)
    assert guest.fstat(fd).size == 20
    guest.ok("fd_allocate", fd, 0, 1)
    assert guest.fstat(fd).size == 20
    assert guest.content("work/f") == b"abc".ljust(20, b"\0")


def test_allocation_errors(guest: Guest) -> None:
    fd = opened(guest)
    assert guest.call("fd_allocate", fd, 0, 0) == Errno.INVAL
    assert guest.call("fd_allocate", fd, 0, MAX_FILE_BYTES + 1) == Errno.FBIG
    assert guest.call("fd_allocate", fd, BIG, BIG) == Errno.FBIG
    assert guest.call("fd_allocate", fd, 0, guest.budget_bytes) == Errno.NOSPC
    null = guest.open("dev/null", rights=READ_WRITE)
    assert guest.call("fd_allocate", null, 0, 1) == Errno.NODEV
    assert guest.fstat(fd).size == 0


def test_advice_is_checked_and_changes_nothing(guest: Guest) -> None:
    fd = guest.open("work", rights=abi.DIRECTORY_RIGHTS)
    for advice in range(6):
        guest.ok("fd_advise", fd, 0, BIG, advice)
    assert guest.call("fd_advise", fd, 0, 0, 6) == Errno.INVAL


# The descriptor itself


def test_every_function_of_a_descriptor_knows_a_closed_one(guest: Guest) -> None:
    fd = opened(guest)
    guest.close(fd)
    for name, parameters in abi.SIGNATURES.items():
        if name.startswith("fd_"):
            assert guest.call(name, fd, *[0] * (len(parameters) - 1)) == Errno.BADF, name
    assert guest.call("fd_read", 0xFFFF_FFFF, 0, 0, RESULT) == Errno.BADF


def test_every_right_is_asked_for(guest: Guest) -> None:
    needed = {
        "fd_advise": (abi.RIGHT_FD_ADVISE, [0, 0, 0]),
        "fd_allocate": (abi.RIGHT_FD_ALLOCATE, [0, 1]),
        "fd_datasync": (abi.RIGHT_FD_DATASYNC, []),
        "fd_fdstat_set_flags": (abi.RIGHT_FD_FDSTAT_SET_FLAGS, [0]),
        "fd_filestat_get": (abi.RIGHT_FD_FILESTAT_GET, [RESULT]),
        "fd_filestat_set_size": (abi.RIGHT_FD_FILESTAT_SET_SIZE, [0]),
        "fd_filestat_set_times": (abi.RIGHT_FD_FILESTAT_SET_TIMES, [0, 0, 0]),
        "fd_pread": (abi.RIGHT_FD_READ | abi.RIGHT_FD_SEEK, [0, 0, 0, RESULT]),
        "fd_pwrite": (abi.RIGHT_FD_WRITE | abi.RIGHT_FD_SEEK, [0, 0, 0, RESULT]),
        "fd_read": (abi.RIGHT_FD_READ, [0, 0, RESULT]),
        "fd_seek": (abi.RIGHT_FD_SEEK, [1, 0, RESULT]),
        "fd_sync": (abi.RIGHT_FD_SYNC, []),
        "fd_tell": (abi.RIGHT_FD_TELL, [RESULT]),
        "fd_write": (abi.RIGHT_FD_WRITE, [0, 0, RESULT]),
    }
    guest.create("work/f")
    for name, (rights, arguments) in needed.items():
        fd = guest.open("work/f", rights=rights)
        guest.ok(name, fd, *arguments)
        for bit in range(30):
            if rights & 1 << bit:
                others = abi.FILE_RIGHTS & ~(1 << bit)
                if name == "fd_tell":
                    others &= ~abi.RIGHT_FD_SEEK  # which implies tell
                lacking = guest.open("work/f", rights=others)
                assert guest.call(name, lacking, *arguments) == Errno.NOTCAPABLE, (name, bit)


def test_reading_a_directory_needs_the_right(guest: Guest) -> None:
    fd = guest.open("work", rights=abi.DIRECTORY_RIGHTS & ~abi.RIGHT_FD_READDIR)
    assert guest.call("fd_readdir", fd, 0, 0, 0, RESULT) == Errno.NOTCAPABLE
    file = opened(guest)
    assert guest.call("fd_readdir", file, 0, 0, 0, RESULT) == Errno.NOTCAPABLE


def test_rights_can_be_given_up_and_not_taken_back(guest: Guest) -> None:
    fd = opened(guest, rights=READ_WRITE)
    guest.ok("fd_fdstat_set_rights", fd, READ, 0)
    assert guest.fdstat(fd)[2:] == (READ, 0)
    assert guest.write_errno(fd, b"x") == Errno.NOTCAPABLE
    assert guest.call("fd_fdstat_set_rights", fd, READ_WRITE, 0) == Errno.NOTCAPABLE
    assert guest.call("fd_fdstat_set_rights", fd, READ, 1) == Errno.NOTCAPABLE
    assert guest.fdstat(fd)[2:] == (READ, 0)


def test_flags_are_kept_and_unknown_ones_refused(guest: Guest) -> None:
    fd = opened(guest)
    for flags in (abi.FDFLAG_NONBLOCK, abi.FDFLAG_DSYNC | abi.FDFLAG_SYNC | abi.FDFLAG_RSYNC, 0):
        guest.ok("fd_fdstat_set_flags", fd, flags)
        assert guest.fdstat(fd)[1] == flags
    assert guest.call("fd_fdstat_set_flags", fd, 1 << 5) == Errno.INVAL


def test_renumbering_moves_one_descriptor_over_another(guest: Guest) -> None:
    guest.create("work/a", b"from a")
    guest.create("work/b", b"from b")
    a, b = guest.open("work/a"), guest.open("work/b")
    guest.ok("fd_renumber", a, b)
    assert guest.read(b, 100) == b"from a"
    assert guest.call("fd_read", a, 0, 0, RESULT) == Errno.BADF
    assert guest.unlink("work/b") == Errno.SUCCESS
    guest.close(b)
    assert guest.unlink("work/a") == Errno.SUCCESS
    assert guest.charged() == 0


def test_renumbering_to_itself_changes_nothing(guest: Guest) -> None:
    fd = opened(guest, b"abc")
    guest.ok("fd_renumber", fd, fd)
    assert guest.read(fd, 9) == b"abc"


def test_renumbering_needs_two_open_descriptors(guest: Guest) -> None:
    fd = opened(guest, b"abc")
    assert guest.call("fd_renumber", fd, 99) == Errno.BADF
    assert guest.call("fd_renumber", 99, fd) == Errno.BADF
    assert guest.read(fd, 9) == b"abc"


def test_output_can_be_redirected_to_a_file(guest: Guest) -> None:
    fd = opened(guest)
    guest.ok("fd_renumber", fd, 1)
    guest.write(1, b"into the file")
    assert guest.output == []
    assert guest.content("work/f") == b"into the file"


def test_the_lowest_free_number_is_given_out(guest: Guest) -> None:
    guest.create("work/f")
    fds = [guest.open("work/f") for _ in range(4)]
    assert fds == [4, 5, 6, 7]
    guest.close(6, 4)
    assert [guest.open("work/f") for _ in range(3)] == [4, 6, 8]


def test_the_root_is_the_only_preopened_descriptor(guest: Guest) -> None:
    guest.ok("fd_prestat_get", ROOT, RESULT)
    assert guest.memory.read(RESULT, 8) == abi.PRESTAT.pack(0, 1)
    guest.ok("fd_prestat_dir_name", ROOT, RESULT, 1)
    assert guest.memory.read(RESULT, 1) == b"/"
    assert guest.call("fd_prestat_dir_name", ROOT, RESULT, 0) == Errno.NAMETOOLONG
    for fd in (0, 1, 2, 4, guest.open("work")):
        assert guest.call("fd_prestat_get", fd, RESULT) == Errno.BADF
        assert guest.call("fd_prestat_dir_name", fd, RESULT, 1) == Errno.BADF


# What it refers to


def test_the_attributes_of_an_open_file(guest: Guest) -> None:
    fd = opened(guest, b"abc")
    stat = guest.fstat(fd)
    assert (stat.filetype, stat.size, stat.nlink) == (abi.FileType.REGULAR_FILE, 3, 1)
    assert stat == guest.stat("work/f")
    assert stat.mtime_ns % 1000 == 0


def test_times_are_set_as_the_flags_say(guest: Guest) -> None:
    fd = opened(guest)
    guest.ok("fd_filestat_set_times", fd, 11, 22, abi.FSTFLAG_ATIM | abi.FSTFLAG_MTIM)
    assert (guest.fstat(fd).atime_ns, guest.fstat(fd).mtime_ns) == (11, 22)
    guest.ok("fd_filestat_set_times", fd, 33, 44, abi.FSTFLAG_MTIM)
    assert (guest.fstat(fd).atime_ns, guest.fstat(fd).mtime_ns) == (11, 44)
    guest.ok("fd_filestat_set_times", fd, 33, 44, abi.FSTFLAG_ATIM_NOW | abi.FSTFLAG_MTIM_NOW)
    assert guest.fstat(fd).atime_ns == guest.fstat(fd).mtime_ns == guest.fstat(fd).ctime_ns
    assert guest.fstat(fd).atime_ns > 44
    guest.ok("fd_filestat_set_times", fd, BIG, BIG, abi.FSTFLAG_ATIM | abi.FSTFLAG_MTIM)
    assert guest.fstat(fd).mtime_ns == BIG


@pytest.mark.parametrize(
    "flags",
    [
        abi.FSTFLAG_ATIM | abi.FSTFLAG_ATIM_NOW,
        abi.FSTFLAG_MTIM | abi.FSTFLAG_MTIM_NOW,
        1 << 4,
        0xFFFF_FFFF,
    ],
)
def test_contradicting_times_are_invalid(guest: Guest, flags: int) -> None:
    fd = opened(guest)
    before = guest.fstat(fd)
    assert guest.call("fd_filestat_set_times", fd, 1, 2, flags) == Errno.INVAL
    assert guest.fstat(fd) == before


def test_writing_sets_the_modification_time(guest: Guest) -> None:
    fd = opened(guest)
    for change in (
        lambda: guest.write(fd, b"x"),
        lambda: guest.ok("fd_filestat_set_size", fd, 9),
        lambda: guest.ok("fd_allocate", fd, 9, 9),
    ):
        guest.ok("fd_filestat_set_times", fd, 0, 5, abi.FSTFLAG_MTIM)
        change()
        assert guest.fstat(fd).mtime_ns > 5
    guest.ok("fd_filestat_set_times", fd, 0, 5, abi.FSTFLAG_MTIM)
    guest.write(fd, b"")
    guest.pread(fd, 1, 0)
    assert guest.fstat(fd).mtime_ns == 5


def test_syncing_memory_succeeds(guest: Guest) -> None:
    fd = guest.open("work/f", oflags=CREATE, rights=abi.FILE_RIGHTS)
    guest.ok("fd_sync", fd)
    guest.ok("fd_datasync", fd)


# Listing


def test_a_listing_begins_with_the_dots_and_their_inodes(guest: Guest) -> None:
    assert guest.mkdir("work/d") == 0
    guest.create("work/d/f")
    fd = guest.open_directory("work/d")
    entries = guest.readdir(fd, 0, 4096)
    assert [entry[3] for entry in entries] == [b".", b"..", b"f"]
    assert [entry[1] for entry in entries] == [
        guest.stat(path).inode for path in ("work/d", "work", "work/d/f")
    ]
    assert [entry[2] for entry in entries] == [
        abi.FileType.DIRECTORY,
        abi.FileType.DIRECTORY,
        abi.FileType.REGULAR_FILE,
    ]


def test_the_parent_of_the_root_is_the_root(guest: Guest) -> None:
    entries = guest.readdir(ROOT, 0, 4096)
    assert entries[0][1] == entries[1][1]
    assert {entry[3] for entry in entries[2:]} == {b"work", b"tmp", b"dev", b"usr"}


@pytest.mark.parametrize("size", [24 + 62, 100, 300, 4096, 65536])
def test_a_big_directory_read_in_bites_lists_each_name_once(guest: Guest, size: int) -> None:
    assert guest.mkdir("work/d") == 0
    names = [b"n" * 59 + b"%03d" % i for i in range(500)]
    for name in names:
        guest.create(b"work/d/" + name)
    assert guest.listdir("work/d", size) == names


def test_a_small_buffer_gets_the_beginning_of_an_entry(guest: Guest) -> None:
    guest.create("work/abcdef")
    fd = guest.open_directory("work")
    whole = abi.DIRENT.size + 6
    for size in (0, 1, 23, 24, 27, whole - 1):
        guest.ok("fd_readdir", fd, 100_000, size, 2, RESULT)
        assert guest.u32() == size  # a full buffer: there is more
    guest.ok("fd_readdir", fd, 100_000, whole + 1, 2, RESULT)
    assert guest.u32() == whole  # less than the buffer: the end
    assert guest.memory.read(100_000 + 24, 6) == b"abcdef"


def test_a_listing_can_start_again_and_anywhere(guest: Guest) -> None:
    for name in "abcd":
        guest.create(f"work/{name}")
    fd = guest.open_directory("work")
    entries = guest.readdir(fd, 0, 4096)
    assert guest.readdir(fd, 0, 4096) == entries
    for position, entry in enumerate(entries):
        assert guest.readdir(fd, entry[0], 4096) == entries[position + 1 :]
    assert guest.readdir(fd, BIG, 4096) == []


def test_removing_while_reading_skips_and_repeats_nothing(guest: Guest) -> None:
    assert guest.mkdir("work/d") == 0
    for i in range(300):
        assert guest.mkdir(f"work/d/{i:03}") == 0
    fd = guest.open_directory("work/d")
    seen, cookie = [], 0
    while entries := guest.readdir(fd, cookie, 256):
        cookie = entries[-1][0]
        for name in (entry[3] for entry in entries):
            if name not in (b".", b".."):
                seen.append(name)
                assert guest.rmdir(b"work/d/" + name) == 0
    assert seen == [b"%03d" % i for i in range(300)]
    assert guest.rmdir("work/d") == 0
    guest.close(fd)
    assert guest.charged() == 0


def test_renaming_while_reading_ends(guest: Guest) -> None:
    for i in range(300):
        guest.create(f"work/{i:03}")
    fd = guest.open_directory("work")
    renamed, cookie = 0, 0
    while entries := guest.readdir(fd, cookie, 256):
        cookie = entries[-1][0]
        for name in (entry[3] for entry in entries):
            if name not in (b".", b".."):
                assert guest.rename(b"work/" + name, b"work/" + name + b".bak") == 0
                renamed += 1
    assert renamed == 300
    assert len(guest.listdir("work")) == 300


def test_a_removed_directory_lists_nothing(guest: Guest) -> None:
    assert guest.mkdir("work/d") == 0
    fd = guest.open_directory("work/d")
    assert guest.rmdir("work/d") == 0
    assert guest.readdir(fd, 0, 4096) == []


def test_a_listing_longer_than_a_mebibyte_is_refused_and_not_cut(guest: Guest) -> None:
    fd = guest.open_directory("work")
    assert guest.call("fd_readdir", fd, 0, MAX_LISTING_BYTES + 1, 0, RESULT) == Errno.INVAL
    guest.ok("fd_readdir", fd, 100_000, MAX_LISTING_BYTES, 0, RESULT)


def test_writing_needs_the_file_opened_for_it(guest: Guest) -> None:
    fd = opened(guest, b"abc", rights=READ)
    assert guest.write_errno(fd, b"x") == Errno.NOTCAPABLE
    only_write = guest.open("work/f", rights=WRITE)
    assert guest.call("fd_read", only_write, 0, 0, RESULT) == Errno.NOTCAPABLE
