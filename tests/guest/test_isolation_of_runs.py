"""What the isolate promises about many runs, held with the real guests."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nova_desktop.model import MIB, Status
from tests.guest.conftest import Programs

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only on Linux: reads /proc"
)

pytestmark = pytest.mark.security


def rss_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def at_once(count: int, target: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=target, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@linux
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_thousand_runs_alone_and_eight_at_a_time_leave_no_memory_behind(
    python: Programs,
) -> None:
    """Each run dirties more than 1 MiB of its own memory: a leak would show as a GiB."""
    for _ in range(10):
        python("print(1 + 1)", check=True)
    before = rss_bytes()
    for _ in range(1_000):
        python("print(1 + 1)")
    assert rss_bytes() - before < 10 * MIB

    def many(_number: int) -> None:
        for _ in range(125):
            python("print(1 + 1)")

    at_once(8, many)
    assert rss_bytes() - before < 10 * MIB


def _once(programs: Programs, source: str) -> None:
    programs(source, check=True)


@linux
def test_two_hundred_runs_leave_no_descriptor_thread_or_memory_behind(
    javascript: Programs,
) -> None:
    program = "const x = new Uint8Array(4 << 20).fill(1); console.log(x[7])"
    at_once(8, lambda _number: _once(javascript, program))
    before = (rss_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count())
    for _ in range(200):
        javascript(program)
    assert rss_bytes() - before[0] < 10 * MIB
    assert len(os.listdir("/proc/self/fd")) == before[1]
    assert threading.active_count() <= before[2]


def test_eight_programs_at_once_see_their_own_files_and_words_only(python: Programs) -> None:
    source = """
        import pathlib, sys
        mine = sys.argv[1]
        for n in range(20):
            pathlib.Path(f"{n}.txt").write_text(mine * 1000)
        texts = {p.read_text() for p in pathlib.Path("/work").iterdir()}
        assert texts == {mine * 1000}, texts
        print(mine * 1000)
    """
    wrong: list[str] = []

    def one(number: int) -> None:
        letter = "abcdefgh"[number]
        ran = python(source, arguments=(letter,))
        if ran.stdout != letter * 1000 + "\n" or len(ran.files) != 20:
            wrong.append(ran.stderr or ran.stdout[:100])

    at_once(8, one)
    assert wrong == []


@pytest.mark.parametrize(
    "source",
    ["while True: pass", "import time\ntime.sleep(100)", "9**9**9", "sum(range(10**12))"],
)
def test_deadline_is_met_and_what_was_printed_is_kept(python: Programs, source: str) -> None:
    ran = python(f"print('a', flush=True)\n{source}", timeout_s=0.5)
    assert (ran.status, ran.error_code) == (Status.TIMED_OUT, "run.timed_out")
    assert ran.stdout == "a\n"
    assert ran.seconds < 0.75


def test_memory_limit_is_a_memory_error_with_its_traceback(python: Programs) -> None:
    ran = python("print('a')\nx = []\nwhile True: x.append('y' * 1_000_000)", memory_bytes=64 * MIB)
    assert (ran.status, ran.error_code) == (Status.OUT_OF_MEMORY, "run.out_of_memory")
    assert ran.stdout == "a\n"
    assert "MemoryError" in ran.stderr
    assert python("print(len('y' * 100_000_000))", check=True).stdout == "100000000\n"


def test_program_that_copes_with_a_refused_allocation_finishes(python: Programs) -> None:
    source = """
        try:
            bytearray(10**9)
        except MemoryError:
            print("coped")
    """
    assert python(source, memory_bytes=64 * MIB, check=True).stdout == "coped\n"


def test_files_and_guest_memory_share_one_budget(python: Programs) -> None:
    source = """
        import errno
        try:
            with open("big", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError as error:
            print(errno.errorcode[error.errno])
    """
    ran = python(source, memory_bytes=64 * MIB)
    assert ran.stdout == "ENOSPC\n"
    assert len(ran.files["big"]) < 48 * MIB


@pytest.mark.parametrize("source", ["raise SystemExit(124)", "raise SystemExit(137)"])
def test_exit_codes_that_others_use_for_endings_stay_exit_codes(
    python: Programs, source: str
) -> None:
    ran = python(source)
    assert (ran.status, ran.error_code) == (Status.FAILED, "")
    assert ran.exit_code == int(source[17:20])


def test_abort_is_a_failure_of_the_guest_and_the_next_run_is_well(python: Programs) -> None:
    ran = python("print('a', flush=True)\nimport os\nos.abort()")
    assert ran.status is Status.FAILED
    assert ran.stdout == "a\n"
    assert python("print(7)", check=True).stdout == "7\n"
