"""How a run ended, in one word and one error: the only place that decides it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nova_desktop.model import MIB, ErrorInfo, Limits, NovaError, Status
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import GuestExit, RunEnded
from nova_desktop.sandbox.wasm.isolate import GuestTrapped
from nova_desktop.sandbox.wasm.program import GuestReport

_REMEDIES = {
    "run.timed_out": "Raise the limit with --timeout, or let the program do less.",
    "run.out_of_memory": "Raise the limit with --memory, or let the program hold less at a time.",
    "run.output_limit": "Let the program print less, or write to a file in /work.",
    "run.stack_exhausted": "Let the program recurse less deeply, or use a loop.",
}


@dataclass(frozen=True, slots=True)
class Ending:
    status: Status
    exit_code: int | None = None
    error: ErrorInfo | None = None


def ending_of(
    cause: int | BaseException,
    *,
    report: GuestReport | None,
    budget: MemoryBudget,
    limits: Limits,
) -> Ending:
    """``cause``: the exit code that ``nova_run`` returned, or what was raised instead."""
    match cause:
        case int():
            return _of_exit(cause, report, budget, limits)
        case GuestExit():
            # As WASI lets a guest pass any 32 bits, and every caller expects a byte.
            return _of_exit(min(cause.code, 255), report, budget, limits)
        case BudgetExceeded():
            return _out_of_memory(None, limits)
        case RunEnded(status=Status.OUT_OF_MEMORY):
            return _out_of_memory(None, limits)
        case RunEnded():
            return Ending(cause.status, error=_error(cause.code, cause.message))
        case GuestTrapped():
            return _of_trap(cause, budget, limits)
        case NovaError():  # from a caller's callback
            return Ending(Status.ENGINE_ERROR, error=cause.info())
        case _:
            return _of_fault(cause)


def _of_exit(code: int, report: GuestReport | None, budget: MemoryBudget, limits: Limits) -> Ending:
    if code == 0:
        return Ending(Status.FINISHED, 0)
    # A program that coped with a refused allocation finished; one that did not says so.
    if budget.exceeded or (report is not None and _tells_of_memory(report)):
        return _out_of_memory(code, limits)
    return Ending(Status.FAILED, code)


def _tells_of_memory(report: GuestReport) -> bool:
    """Python's MemoryError; QuickJS has no class of its own for it."""
    return report.type == "MemoryError" or (
        report.type == "InternalError" and report.message == "out of memory"
    )


def _of_trap(trap: GuestTrapped, budget: MemoryBudget, limits: Limits) -> Ending:
    if trap.stack_exhausted:
        return Ending(
            Status.LIMIT,
            error=_error(
                "run.stack_exhausted", "The program's recursion used up the stack.", limit="stack"
            ),
        )
    if budget.exceeded:
        return _out_of_memory(None, limits)
    first_line = trap.failure.message.rstrip().rpartition("\n")[2].strip()
    return Ending(
        Status.FAILED,
        error=_error("guest.trapped", f"The language interpreter stopped itself: {first_line}."),
    )


def _out_of_memory(code: int | None, limits: Limits) -> Ending:
    return Ending(
        Status.OUT_OF_MEMORY,
        code,
        _error(
            "run.out_of_memory",
            f"The program needed more than its memory limit of {limits.memory_bytes / MIB:.4g} MiB,"
            " which its memory, its files and its kept output share.",
            limit="memory",
        ),
    )


def _of_fault(fault: BaseException) -> Ending:
    """A bug of ours, or a caller's callback that failed: named, without its payload."""
    trace = fault.__traceback__
    where = "unknown"
    while trace is not None:
        where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return Ending(
        Status.ENGINE_ERROR,
        error=ErrorInfo(
            "engine.internal",
            f"A fault in Nova itself ended the run: {type(fault).__name__} at {where}.",
            "Please report it with this line and the program.",
            details={"type": type(fault).__name__, "where": where},
        ),
    )


def _error(code: str, message: str, **details: str) -> ErrorInfo:
    return ErrorInfo(code, message, _REMEDIES.get(code, ""), details=details)
