from __future__ import annotations

import json

import pytest

from nova_desktop.model import (
    ErrorInfo,
    InvalidRequest,
    NovaError,
    Refused,
    RuntimeUnavailable,
    WorkspaceError,
)


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [
        (NovaError, 70),
        (InvalidRequest, 2),
        (WorkspaceError, 2),
        (Refused, 3),
        (RuntimeUnavailable, 4),
    ],
)
def test_each_kind_has_its_exit_code(kind: type[NovaError], exit_code: int) -> None:
    assert kind.exit_code == exit_code
    assert issubclass(kind, NovaError)
    assert kind.title


def test_an_error_as_value_says_the_same() -> None:
    error = InvalidRequest("request.bad_limit", "It is zero.", "Leave it out.", limit="timeout_s")
    assert str(error) == "It is zero."
    assert error.info() == ErrorInfo(
        "request.bad_limit", "It is zero.", "Leave it out.", details={"limit": "timeout_s"}
    )


def test_the_json_shape_is_always_the_same() -> None:
    shape = json.loads(json.dumps(ErrorInfo("a.b", "why").to_json()))
    assert shape == {"code": "a.b", "message": "why", "remedy": "", "hint": "", "details": {}}


def test_details_of_a_value_are_not_those_of_the_error() -> None:
    error = NovaError("a.b", "why", module="numpy")
    error.info().details["module"] = "changed"
    assert error.details == {"module": "numpy"}
