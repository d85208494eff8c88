"""Random modules call the host with random arguments, through real wasm.

Each example is a module of its own: it opens a few real descriptors and then calls host
functions with interesting numbers. Whatever it does, the run ends as a value, the host goes on,
and no exception of ours was the reason. 420 examples of 50 calls are 21,000 calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nova_desktop.model import MIB, Cancellation, Limits, Status
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.wasi_abi import DIRECTORY_RIGHTS, FILE_RIGHTS, SIGNATURES
from tests.attack.raw_module import RawGuests

pytestmark = pytest.mark.security

EXAMPLES, CALLS = 420, 50
MEMORY_BYTES = 2 * 65536

INTERESTING = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64, 1000, 1024, 1025, 4096, 65535, 65536,
    MEMORY_BYTES - 8, MEMORY_BYTES - 1, MEMORY_BYTES, MEMORY_BYTES + 1,
    0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF8, 0xFFFF_FFFF, (1 << 30) - 1,
]  # fmt: skip
INTERESTING_64 = [*INTERESTING, 1 << 32, (1 << 40) + 5, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]

NAMES = sorted(set(SIGNATURES) - {"proc_exit"})

I32 = st.one_of(
    st.sampled_from(INTERESTING), st.integers(0, MEMORY_BYTES), st.integers(0, 0xFFFF_FFFF)
)
I64 = st.one_of(st.sampled_from(INTERESTING_64), st.integers(0, (1 << 64) - 1))


@st.composite
def one_call(draw: st.DrawFn) -> tuple[str, tuple[int, ...]]:
    name = draw(st.sampled_from(NAMES))
    return name, tuple(draw(I32 if kind == "i32" else I64) for kind in SIGNATURES[name])


FILE = (FILE_RIGHTS, FILE_RIGHTS)
FOLDER = (DIRECTORY_RIGHTS, DIRECTORY_RIGHTS | FILE_RIGHTS)

SETUP = (
    # Real descriptors 4 to 6, so that the random ones are not all bad: a file, /work, a folder.
    ("path_open", (3, 0, 1024, 6, 1, *FILE, 0, 64)),
    ("path_open", (3, 0, 1040, 4, 2, *FOLDER, 0, 64)),
    ("path_create_directory", (3, 1056, 6)),
    ("path_open", (3, 0, 1056, 6, 2, *FOLDER, 0, 64)),
)
DATA = {
    1024: b"work/a",
    1040: b"work",
    1056: b"work/d",
    # iovecs at 0: two good ones, one at the end of memory, one beyond it
    0: b"".join(
        number.to_bytes(4, "little")
        for number in (2048, 16, 4096, 100, MEMORY_BYTES - 4, 4, MEMORY_BYTES - 4, 100)
    ),
}


@pytest.fixture(scope="module")
def guests() -> Iterator[RawGuests]:
    with RawGuests() as raw:
        yield raw


calls_made = itertools.count()


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(calls=st.lists(one_call(), min_size=CALLS, max_size=CALLS))
def test_random_calls_end_as_values(
    guests: RawGuests, calls: list[tuple[str, tuple[int, ...]]]
) -> None:
    budget = MemoryBudget(16 * MIB)
    outcome = guests.run([*SETUP, *calls], DATA, budget=budget, limits=Limits(timeout_s=0.3))
    assert outcome.status in {Status.FINISHED, Status.TIMED_OUT, Status.LIMIT}, outcome.error
    assert len(outcome.results) == len(SETUP) + CALLS or outcome.status is not Status.FINISHED
    for _ in range(len(outcome.results)):
        next(calls_made)


def test_at_least_20_000_calls_were_made() -> None:
    assert next(calls_made) >= 20_000, "the fuzzing above must run first, and whole"


def test_the_setup_is_real(guests: RawGuests) -> None:
    """Control: the same machinery makes valid calls succeed, so a refusal says something."""
    outcome = guests.run(
        [*SETUP, ("fd_write", (4, 0, 2, 128)), ("fd_filestat_get", (4, 256))],
        DATA,
        budget=MemoryBudget(16 * MIB),
        limits=Limits(timeout_s=5),
    )
    assert outcome.status is Status.FINISHED
    assert outcome.results == (0,) * 6
    assert outcome.files["a"] == bytes(116)


def test_cancellation_is_a_value_too(guests: RawGuests) -> None:
    stop = Cancellation()
    stop.request()
    outcome = guests.run(
        [("sched_yield", ())], {}, budget=MemoryBudget(16 * MIB), limits=Limits(), stop=stop
    )
    assert outcome.status is Status.STOPPED
