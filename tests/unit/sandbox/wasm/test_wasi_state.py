from __future__ import annotations

import pytest

from nova_desktop.model import KIB, Denied
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import GuestExit
from nova_desktop.sandbox.wasm.errno import Errno, RefusedCall, WasiError
from nova_desktop.sandbox.wasm.hostcalls import GuestFault
from nova_desktop.sandbox.wasm.wasi_state import WasiState, answers_errno
from tests.fakes.wasi_guest import MEMORY_BYTES, Guest


def raising(error: Exception | None) -> int:
    @answers_errno
    def path_example(state: WasiState) -> None:
        if error is not None:
            raise error

    return path_example(GUEST.host)


GUEST = Guest()


def test_a_method_answers_with_the_number_of_its_error() -> None:
    assert raising(None) == Errno.SUCCESS
    assert raising(WasiError(Errno.XDEV)) == Errno.XDEV
    assert raising(BudgetExceeded("full")) == Errno.NOSPC
    assert GUEST.denied.entries() == ()


def test_a_refusal_is_recorded_under_the_name_of_the_function() -> None:
    assert raising(RefusedCall(Errno.PERM, "wasi.links", b"x")) == Errno.PERM
    assert Denied("path_example", "x", "wasi.links") in GUEST.denied.entries()


@pytest.mark.parametrize("error", [GuestFault(), GuestExit(3)])
def test_endings_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        raising(error)


def test_a_bug_of_ours_is_not_taken_for_an_error_of_the_guest() -> None:
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError())


def test_before_there_is_a_guest_its_memory_cannot_be_used() -> None:
    guest = Guest()
    fresh = WasiState(
        files=guest.files,
        arguments=(),
        environment={},
        stdin=None,
        output=lambda stream, data: None,
        control=guest.control,
        budget=MemoryBudget(64 * KIB),
        denied=guest.denied,
        clock_resolution_ns=1,
    )
    with pytest.raises(RuntimeError):
        fresh.check_range(0, 1)


def test_a_nul_in_an_argument_or_variable_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="NUL"):
        Guest(arguments=["a\0b"])
    with pytest.raises(ValueError, match="NUL"):
        Guest(environment={"A": "x\0B=y"})


def test_ranges_are_checked_without_wrapping() -> None:
    GUEST.host.check_range(0, MEMORY_BYTES)
    for pointer, length in ((0, MEMORY_BYTES + 1), (0xFFFF_FFFF, 0xFFFF_FFFF), (MEMORY_BYTES, 1)):
        with pytest.raises(GuestFault):
            GUEST.host.check_range(pointer, length)
