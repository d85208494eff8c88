"""Errors as values that a dialog, a terminal and a JSON reader can all show.

::

    NovaError                 anything we can explain; every other error is a bug of ours
    ├── InvalidRequest        the caller asked for something that makes no sense    (CLI exit 2)
    ├── Refused               a rule says no; trying again will not help            (CLI exit 3)
    ├── RuntimeUnavailable    what would isolate the code cannot run here           (CLI exit 4)
    └── WorkspaceError        the owner's files cannot be read or written as asked  (CLI exit 2)

Codes are stable, lower case, dotted (``request.unknown_language``), and listed in
``docs/errors.md``; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What a result says about a failure; the JSON shape of every error of the product."""

    code: str
    """Stable and dotted; what programs compare."""
    message: str
    """What happened and why, one or two sentences, without payload or secrets."""
    remedy: str = ""
    """What the user can do about it; empty when nothing can be done."""
    hint: str = ""
    """One plain sentence about the guest's own mistake, also printed after its traceback."""
    details: dict[str, str] = field(default_factory=dict)
    """Machine-readable facts (``{"module": "numpy"}``, ``{"limit": "memory"}``)."""

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
            "hint": self.hint,
            "details": dict(self.details),
        }


class NovaError(Exception):
    """Base of every error that is shown to a user."""

    exit_code = 70
    title = "Nova could not do this"

    def __init__(self, code: str, message: str, remedy: str = "", **details: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.details = details

    def info(self) -> ErrorInfo:
        return ErrorInfo(self.code, self.message, self.remedy, details=dict(self.details))


class InvalidRequest(NovaError):
    exit_code = 2
    title = "This request cannot be carried out"


class Refused(NovaError):
    exit_code = 3
    title = "Refused by policy"


class RuntimeUnavailable(NovaError):
    """The runtime or tier that was asked for cannot isolate here. Nothing stands in for it."""

    exit_code = 4
    title = "This runtime is not available here"


class WorkspaceError(NovaError):
    exit_code = 2
    title = "The folder cannot be used"
