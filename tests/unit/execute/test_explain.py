"""The error of a result."""

from __future__ import annotations

from nova_desktop.execute.explain import explained
from nova_desktop.model import ErrorInfo, ExecutionRequest, Language, Status
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestReport

REQUEST = ExecutionRequest(language=Language.PYTHON, source="")


def _outcome(status: Status = Status.FAILED, **facts: object) -> GuestOutcome:
    return GuestOutcome(status=status, exit_code=1, stdout=b"", stderr=b"", **facts)  # type: ignore[arg-type]


def test_a_run_that_finished_has_no_error() -> None:
    assert explained(REQUEST, _outcome(Status.FINISHED)) is None


def test_an_exception_is_named_with_its_facts_and_a_hint() -> None:
    report = GuestReport("ModuleNotFoundError", "No module named 'numpy'", "numpy", "")
    error = explained(REQUEST, _outcome(report=report))
    assert error is not None
    assert error.code == "guest.exception"
    assert error.message == "ModuleNotFoundError: No module named 'numpy'"
    assert error.details == {"type": "ModuleNotFoundError", "module": "numpy"}
    assert "numpy" in error.hint


def test_an_exit_code_alone_is_named() -> None:
    error = explained(REQUEST, _outcome())
    assert error is not None
    assert (error.code, error.message) == ("guest.exit_code", "The program ended with exit code 1.")


def test_the_isolates_own_error_is_kept() -> None:
    own = ErrorInfo("run.timed_out", "too long", "Raise the limit.")
    error = explained(REQUEST, _outcome(Status.TIMED_OUT, error=own))
    assert error == own


def test_hostile_reports_are_made_printable_and_short() -> None:
    report = GuestReport("E\ud800", "m" * 100_000, "\udcff", "p")
    error = explained(REQUEST, _outcome(report=report))
    assert error is not None
    assert len(error.message) < 3000
    assert error.details["module"] == "\\xff"
    error.message.encode()
