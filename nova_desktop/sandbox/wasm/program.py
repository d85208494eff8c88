"""What an isolate is given and what it gives back: values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_desktop.model import Denied, ErrorInfo, Language, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestProgram:
    """A program for a language guest. ``runtime/nova-wasm/README.md`` is the wire form."""

    language: Language
    source: str | None = None
    source_name: str = "<code>"
    entry: str | None = None
    """Absolute guest path (``/work/pkg/main.py``); exactly one of source and entry is set."""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Exactly what ``environ_get`` answers; nothing is added."""
    stdin: bytes | None = None
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class GuestReport:
    """What the guest says about the exception that ended it. Hostile text: only ever shown."""

    type: str = ""
    message: str = ""
    module: str = ""
    """``ImportError.name``, or the undefined global of a JavaScript ReferenceError."""
    path: str = ""
    """``OSError.filename``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestOutcome:
    status: Status
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    dropped_stdout: int = 0
    dropped_stderr: int = 0
    report: GuestReport | None = None
    denied: tuple[Denied, ...] = ()
    error: ErrorInfo | None = None
    """Set by the isolate for every status but finished and failed."""
    duration_ns: int = 0
    queued_ns: int = 0
    enforced: tuple[str, ...] = ()
