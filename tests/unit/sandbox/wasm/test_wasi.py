from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nova_desktop.model import MIB, Denied, Status
from nova_desktop.sandbox.wasm import wasi_abi as abi
from nova_desktop.sandbox.wasm.control import GuestExit, RunEnded
from nova_desktop.sandbox.wasm.errno import Errno
from tests.fakes.wasi_guest import (
    EVERYTHING,
    MEMORY_BYTES,
    READ_WRITE,
    ROOT,
    WRITE,
    FakeMemory,
    Guest,
)

RESULT = 64
BUFFER, POINTERS = 100_000, 200_000


@pytest.fixture
def guest() -> Guest:
    return Guest()


# Arguments and environment


def strings(guest: Guest, what: str) -> list[bytes]:
    guest.ok(f"{what}_sizes_get", RESULT, RESULT + 4)
    count, size = guest.u32(RESULT), guest.u32(RESULT + 4)
    guest.ok(f"{what}_get", POINTERS, BUFFER)
    block = guest.memory.read(BUFFER, size)
    starts = [guest.u32(POINTERS + 4 * i) - BUFFER for i in range(count)]
    return [block[start : block.index(b"\0", start)] for start in starts]


def test_arguments_are_given_as_c_strings() -> None:
    guest = Guest(arguments=["prog", "", "ä b", "\udcff"])
    assert strings(guest, "args") == [b"prog", b"", "ä b".encode(), b"\xff"]


@pytest.mark.security
def test_the_environment_is_exactly_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVA_TEST_SECRET", "of the host")
    assert os.environ["NOVA_TEST_SECRET"] == "of the host"
    guest = Guest(environment={"HOME": "/work", "A": "1=2"})
    assert strings(guest, "environ") == [b"HOME=/work", b"A=1=2"]
    assert strings(Guest(), "environ") == []


def test_bad_pointers_for_strings_are_faults(guest: Guest) -> None:
    for what in ("args", "environ"):
        assert guest.call(f"{what}_sizes_get", RESULT, MEMORY_BYTES - 3) == Errno.FAULT
        assert guest.call(f"{what}_sizes_get", MEMORY_BYTES - 3, RESULT) == Errno.FAULT
    assert guest.call("args_get", MEMORY_BYTES - 3, BUFFER) == Errno.FAULT
    assert guest.call("args_get", POINTERS, MEMORY_BYTES - 3) == Errno.FAULT
    assert guest.call("args_get", 0xFFFF_FFFF, 0xFFFF_FFFF) == Errno.FAULT


# Clocks, randomness, process


@pytest.mark.parametrize("clock_id", list(abi.ClockId))
def test_clocks(clock_id: int) -> None:
    guest = Guest(clock_resolution_ns=1_000_000)
    guest.ok("clock_res_get", clock_id, RESULT)
    assert guest.u64() == 1_000_000
    guest.ok("clock_time_get", clock_id, 1, RESULT)
    assert guest.u64() % 1_000_000 == 0


def test_unknown_clocks_are_invalid(guest: Guest) -> None:
    for clock_id in (4, 0xFFFF_FFFF):
        assert guest.call("clock_res_get", clock_id, RESULT) == Errno.INVAL
        assert guest.call("clock_time_get", clock_id, 0, RESULT) == Errno.INVAL


def test_randomness_fills_the_buffer_and_nothing_else(guest: Guest) -> None:
    for length in (0, 1, 16, 65_536, 65_537, 4 * MIB):
        guest.memory.data[:] = bytes(MEMORY_BYTES)
        guest.ok("random_get", BUFFER, length)
        assert guest.memory.read(0, BUFFER) == bytes(BUFFER)
        assert not any(guest.memory.read(BUFFER + length, 1000))
        if length >= 16:
            assert any(guest.memory.read(BUFFER, 16))
            assert any(guest.memory.read(BUFFER + length - 16, 16))
    guest.ok("random_get", BUFFER, 32)
    first = guest.memory.read(BUFFER, 32)
    guest.ok("random_get", BUFFER, 32)
    assert guest.memory.read(BUFFER, 32) != first


def test_too_much_randomness_and_bad_pointers(guest: Guest) -> None:
    assert guest.call("random_get", BUFFER, 4 * MIB + 1) == Errno.INVAL
    assert guest.call("random_get", 0, 0xFFFF_FFFF) == Errno.INVAL
    before = bytes(guest.memory.data)
    assert guest.call("random_get", MEMORY_BYTES - 100_000, 100_001) == Errno.FAULT
    assert guest.memory.data == before


def test_exit_carries_its_code(guest: Guest) -> None:
    with pytest.raises(GuestExit) as exit_:
        guest.call("proc_exit", 137)
    assert exit_.value.code == 137


def test_yielding_succeeds_until_the_run_is_over(guest: Guest) -> None:
    guest.ok("sched_yield")
    guest.cancellation.request()
    for name, arguments in (("sched_yield", ()), ("random_get", (BUFFER, 1))):
        with pytest.raises(RunEnded) as ended:
            guest.call(name, *arguments)
        assert ended.value.status is Status.STOPPED


# Refused by design


@pytest.mark.security
def test_sockets_and_signals_are_refused_and_recorded(guest: Guest) -> None:
    assert guest.call("sock_accept", ROOT, 0, RESULT) == Errno.NOTSOCK
    assert guest.call("sock_recv", 0, 0, 0, 0, RESULT, RESULT) == Errno.NOTSOCK
    assert guest.call("sock_send", 99, 0, 0, 0, RESULT) == Errno.BADF
    assert guest.call("sock_shutdown", 1, 3) == Errno.NOTSOCK
    assert guest.call("proc_raise", 9) == Errno.NOTSUP
    assert guest.denied.entries() == (
        Denied("sock_accept", "descriptor 3", "wasi.sockets"),
        Denied("sock_recv", "descriptor 0", "wasi.sockets"),
        Denied("sock_send", "descriptor 99", "wasi.sockets"),
        Denied("sock_shutdown", "descriptor 1", "wasi.sockets"),
        Denied("proc_raise", "signal 9", "wasi.signals"),
    )


# Floods: the host's memory and time, not only the guest's end


def resident_bytes() -> int:
    """Resident memory of this process now."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except FileNotFoundError:
        pytest.skip("only on Linux: needs /proc/self/statm")
    return int(pages) * os.sysconf("SC_PAGESIZE")


@pytest.mark.security
def test_a_flood_of_files_ends_at_the_budget_and_gives_all_back() -> None:
    guest = Guest(budget_bytes=24 * MIB)
    assert guest.mkdir("work/d") == 0
    before, start = resident_bytes(), time.process_time()
    count = 0
    while True:
        path = b"work/d/" + b"n" * 200 + b"%d" % count
        errno = guest.open_errno(path, oflags=abi.OFLAG_CREAT, rights=WRITE)
        if errno:
            break
        guest.close(guest.u32())
        count += 1
    assert errno in (Errno.NOSPC, Errno.MFILE)
    assert guest.budget.exceeded
    assert 10_000 < count < 24 * MIB // (2 * 512 + 200)
    assert resident_bytes() - before < 32 * MIB
    assert time.process_time() - start < 10
    for name in guest.listdir("work/d", 60_000):
        assert guest.unlink(b"work/d/" + name) == 0
    assert guest.rmdir("work/d") == 0
    assert guest.charged() == 0


@pytest.mark.security
def test_a_flood_of_chunks_ends_at_the_budget() -> None:
    guest = Guest(budget_bytes=24 * MIB)
    fd = guest.open("work/f", oflags=abi.OFLAG_CREAT, rights=READ_WRITE)
    before = resident_bytes()
    written = 0
    guest.memory.write(BUFFER, b"x")
    vectors = guest.vectors((BUFFER, 1))
    while not guest.call("fd_pwrite", fd, *vectors, written << 16, RESULT):
        written += 1
    assert 4000 < written < 24 * MIB // (4096 + 512) + 1
    assert resident_bytes() - before < 32 * MIB
    start = time.process_time()
    guest.ok("fd_filestat_set_size", fd, 1)
    assert time.process_time() - start < 0.05
    assert guest.charged() < 8192


@pytest.mark.security
def test_a_flood_of_refusals_costs_microseconds_each(guest: Guest) -> None:
    before, start = resident_bytes(), time.process_time()
    for i in range(20_000):
        guest.open_errno(b"../%d" % i + b"\x1b" * 4000)
    assert time.process_time() - start < 10
    assert resident_bytes() - before < 8 * MIB
    assert len(guest.denied.entries()) == 100
    assert guest.denied.unlisted == 19_900


@pytest.mark.security
@pytest.mark.parametrize(
    "path",
    [b"./" * 2048, b"work/../" * 512, b"/" * 4096, b"work/" + b"d/../" * 800, b"\xff" * 4096],
    ids=["dots", "up and down", "slashes", "through a directory", "not UTF-8"],
)
def test_the_longest_path_is_looked_up_in_a_few_milliseconds(guest: Guest, path: bytes) -> None:
    assert guest.mkdir("work/d") == 0
    start = time.process_time()
    for _ in range(20):
        guest.stat_errno(path)
    assert time.process_time() - start < 20 * 0.02


# Random calls

INTERESTING = [
    *(0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 48, 64, 1023, 1024, 1025, 4095, 4096, 65_536),
    *(MIB, 4 * MIB, 4 * MIB + 1, MIB - 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
]
INTERESTING_64 = [*INTERESTING, 1 << 32, 1 << 40, (1 << 40) + 1, 1 << 62, 1 << 63, (1 << 64) - 1]
RANDOM_SEQUENCES = int(os.environ.get("NOVA_FUZZ_EXAMPLES", "120"))
CALLS_PER_SEQUENCE = 200


class GuardedMemory(FakeMemory):
    """Remembers the longest copy."""

    longest = 0

    def read(self, pointer: int, length: int) -> bytes:
        data = super().read(pointer, length)
        self.longest = max(self.longest, len(data))
        return data

    def write(self, pointer: int, data: bytes | bytearray | memoryview) -> None:
        super().write(pointer, data)
        self.longest = max(self.longest, len(data))


def fuzzing_guest(chance: random.Random) -> Guest:
    """With a tree, open descriptors, and a memory full of paths, vectors and subscriptions."""
    guest = Guest(budget_bytes=4 * MIB, stdin=b"input" * 100, timeout_s=30)
    memory = GuardedMemory(MIB)
    memory.data[:] = chance.randbytes(256) * (MIB // 256)
    guest.memory = memory
    guest.host.memory = memory
    guest.mkdir("work/d")
    guest.create("work/a", b"content")
    for name in ("work/a", "work/d", "tmp", "dev/null", "usr/lib/python313.zip"):
        guest.open(name, rights=EVERYTHING & ~abi.RIGHT_FD_WRITE)
    guest.open("work/a", rights=EVERYTHING)
    for at, path in enumerate(
        [b"work/a", b"work/d", b"work/new", b"work/d/x", b"../etc", b"tmp/t"]
    ):
        memory.write(4096 + at * 16, path)
    for at in range(0, 1024, 8):
        pointer = chance.choice([70_000, 80_000, 0, MIB - 4, 0xFFFF_FFF0])
        memory.write(8192 + at, abi.IOVEC.pack(pointer, chance.choice([0, 5, 100, 65_536])))
    for at in range(0, 48 * 32, 48):
        memory.write(
            16_384 + at,
            abi.SUBSCRIPTION.pack(at, chance.randrange(4), chance.randrange(12), 1000, 0, at % 3),
        )
    return guest


def random_arguments(chance: random.Random, parameters: tuple[str, ...]) -> list[int]:
    arguments = []
    for kind in parameters:
        choices = [
            *(chance.randrange(12), chance.randrange(4096, 4192, 16), 8192, 16_384, 70_000),
            *(chance.choice(INTERESTING), chance.randrange(1 << 32)),
        ]
        if kind == "i64":
            choices += [chance.choice(INTERESTING_64), chance.randrange(1 << 64), EVERYTHING]
        arguments.append(chance.choice(choices))
    return arguments


def release_everything(guest: Guest) -> None:
    for fd in range(5000):
        if guest.call("fd_close", fd) == Errno.BADF and fd > 4100:
            break
    root = guest.files.root
    for entry in reversed(list(guest.files.walk())):
        location = guest.files.lookup(guest.files.work, entry.path.encode())
        (guest.files.remove_directory if entry.is_directory else guest.files.unlink)(location)
    pending = [b"tmp"]
    while pending:
        folder = guest.files.lookup(root, pending[-1]).node
        inner = sorted(getattr(folder, "entries", {}))
        if not inner:
            path = pending.pop()
            if path != b"tmp":
                guest.files.remove_directory(guest.files.lookup(root, path))
            continue
        path = pending[-1] + b"/" + inner[0]
        location = guest.files.lookup(root, path)
        if hasattr(location.node, "entries"):
            pending.append(path)
        else:
            guest.files.unlink(location)


@pytest.mark.security
@settings(
    max_examples=RANDOM_SEQUENCES,
    deadline=None,
    database=None,
    derandomize="NOVA_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, (1 << 64) - 1))
def test_random_calls_answer_with_an_errno_and_keep_to_their_bounds(seed: int) -> None:
    chance = random.Random(seed)
    guest = fuzzing_guest(chance)
    names = [name for name in abi.SIGNATURES if name not in ("proc_exit", "poll_oneoff")]
    for _ in range(CALLS_PER_SEQUENCE):
        name = chance.choice(names)
        arguments = random_arguments(chance, abi.SIGNATURES[name])
        start = time.thread_time()
        errno = guest.call(name, *arguments)
        assert isinstance(errno, int)
        assert 0 <= errno <= Errno.NOTCAPABLE
        assert time.thread_time() - start < 0.5, (name, arguments)
    assert isinstance(guest.memory, GuardedMemory)
    assert guest.memory.longest <= 4 * MIB
    assert len(guest.memory.data) == MIB
    assert 0 <= guest.budget.charged <= guest.budget.total
    assert len(guest.denied.entries()) <= 100
    release_everything(guest)
    assert guest.budget.charged == 0


@pytest.mark.security
@pytest.mark.parametrize("seed", range(200))
def test_random_subscriptions_answer_or_end_with_the_run(seed: int) -> None:
    chance = random.Random(seed)
    guest = fuzzing_guest(chance)
    guest.control.deadline = time.monotonic() + 0.01
    arguments = [16_384 + chance.choice([0, 48, 1]), 70_000, chance.choice([1, 2, 32]), RESULT]
    try:
        errno = guest.call("poll_oneoff", *arguments)
    except RunEnded as end:
        ended: RunEnded | None = end
    else:
        ended = None
        assert errno == Errno.SUCCESS
        assert 1 <= guest.u32() <= arguments[2]
    assert ended is None or ended.status is Status.TIMED_OUT
