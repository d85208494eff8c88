from __future__ import annotations

import pytest

from nova_desktop.model import MIB, ErrorInfo, Limits, NovaError, Status
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import GuestExit, RunEnded
from nova_desktop.sandbox.wasm.endings import Ending, ending_of
from nova_desktop.sandbox.wasm.isolate import GuestTrapped
from nova_desktop.sandbox.wasm.libwasmtime import Failure
from nova_desktop.sandbox.wasm.program import GuestReport


def ending(
    cause: int | BaseException, *, exceeded: bool = False, report: GuestReport | None = None
) -> Ending:
    budget = MemoryBudget(MIB)
    budget.exceeded = exceeded
    return ending_of(cause, report=report, budget=budget, limits=Limits())


@pytest.mark.parametrize("code", [1, 3, 124, 137, 255])
def test_exit_codes_are_the_guests_own_and_never_read_as_endings(code: int) -> None:
    for cause in (code, GuestExit(code)):
        assert ending(cause) == Ending(Status.FAILED, code)


def test_exit_with_zero_is_finished_even_after_a_refused_allocation() -> None:
    assert ending(0, exceeded=True) == Ending(Status.FINISHED, 0)
    assert ending(GuestExit(0)) == Ending(Status.FINISHED, 0)


@pytest.mark.parametrize(
    "report",
    [GuestReport(type="MemoryError"), GuestReport("InternalError", "out of memory")],
)
def test_uncaught_memory_error_is_out_of_memory(report: GuestReport) -> None:
    told = ending(1, report=report)
    assert (told.status, told.exit_code) == (Status.OUT_OF_MEMORY, 1)
    assert told.error is not None
    assert "512 MiB" in told.error.message
    assert "--memory" in told.error.remedy


def test_other_reports_are_failures() -> None:
    for report in (GuestReport("KeyError", "out of memory"), GuestReport("InternalError", "x")):
        assert ending(1, report=report).status is Status.FAILED


def test_failure_after_a_refused_charge_is_out_of_memory() -> None:
    assert ending(1, exceeded=True).status is Status.OUT_OF_MEMORY
    assert ending(BudgetExceeded("x")).status is Status.OUT_OF_MEMORY
    trap = GuestTrapped(Failure("wasm trap: unreachable", 9))
    assert ending(trap, exceeded=True).status is Status.OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("status", "code", "remedy"),
    [
        (Status.TIMED_OUT, "run.timed_out", "--timeout"),
        (Status.STOPPED, "run.stopped", ""),
        (Status.LIMIT, "run.output_limit", "/work"),
        (Status.FAILED, "guest.protocol", ""),
    ],
)
def test_ending_by_the_host_names_its_limit_and_a_remedy(
    status: Status, code: str, remedy: str
) -> None:
    told = ending(RunEnded(status, code, "why"))
    assert (told.status, told.exit_code) == (status, None)
    assert told.error is not None
    assert (told.error.code, told.error.message) == (code, "why")
    assert remedy in told.error.remedy


def test_trap_is_a_failure_that_quotes_its_last_line_only() -> None:
    told = ending(GuestTrapped(Failure("backtrace:\n 0: 0x87\nCaused by:\n  wasm trap: x\n", 9)))
    assert told.status is Status.FAILED
    assert told.error is not None
    assert told.error.code == "guest.trapped"
    assert told.error.message.endswith("itself: wasm trap: x.")


def test_exit_code_is_one_byte() -> None:
    assert ending(GuestExit(0xFFFF_FFFF)) == Ending(Status.FAILED, 255)
    assert ending(GuestExit(256)) == Ending(Status.FAILED, 255)


def test_refusal_of_a_callback_keeps_its_own_words() -> None:
    told = ending(NovaError("engine.nested_run", "why", "remedy"))
    assert told == Ending(
        Status.ENGINE_ERROR, error=ErrorInfo("engine.nested_run", "why", "remedy")
    )


def test_fault_of_ours_names_its_place_and_not_its_payload() -> None:
    def broken(secret: str) -> None:
        raise ValueError(secret)

    try:
        broken("hunter2")
    except ValueError as error:
        told = ending(error)
    assert told.status is Status.ENGINE_ERROR
    assert told.error is not None
    assert told.error.code == "engine.internal"
    assert "ValueError at test_endings.py:" in told.error.message
    assert "hunter2" not in str(told.error)
