"""The error of a result: how the run ended, in words, with a hint where one is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from nova_desktop.execute.hints import find_hint
from nova_desktop.execute.text import printable
from nova_desktop.model import ErrorInfo, ExecutionRequest, PathNote, Status
from nova_desktop.sandbox.wasm.program import GuestOutcome

_MAX_MESSAGE = 2_000
"""Characters of the guest's own message; all of it is in stderr."""


def explained(
    request: ExecutionRequest, outcome: GuestOutcome, left_out: Sequence[PathNote] = ()
) -> ErrorInfo | None:
    """None for a run that finished; otherwise its error, valid Unicode throughout."""
    if outcome.status is Status.FINISHED:
        return None
    error = outcome.error or _of_the_guest(outcome)
    report = outcome.report
    details = dict(error.details)
    if report is not None:
        facts = {"type": report.type, "module": report.module, "path": report.path}
        details.update({name: value for name, value in facts.items() if value})
    return dataclasses.replace(
        error,
        message=printable(error.message),
        hint=printable(error.hint or find_hint(request, report, left_out)),
        details={printable(name): printable(value) for name, value in details.items()},
    )


def _of_the_guest(outcome: GuestOutcome) -> ErrorInfo:
    """A program that failed by itself: by an exception, or by the exit code that it chose."""
    report = outcome.report
    if report is None or not report.type:
        return ErrorInfo(
            "guest.exit_code", f"The program ended with exit code {outcome.exit_code}."
        )
    message = f"{report.type}: {report.message}" if report.message else report.type
    if len(message) > _MAX_MESSAGE:
        message = message[:_MAX_MESSAGE] + "…"
    return ErrorInfo("guest.exception", message)
