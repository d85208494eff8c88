"""The contract of ``code.execute``: what a caller asks for and what it gets back.

The same values, spelled the same way, serve the Python API, ``nova run --json`` and MCP.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nova_desktop.model.errors import ErrorInfo

KIB = 1 << 10
MIB = 1 << 20


class Language(enum.StrEnum):
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    BASH = "bash"


class RuntimeName(enum.StrEnum):
    WASM = "wasm"
    NOVA = "nova"
    DOCKER = "docker"
    AUTO = "auto"
    LOCAL = "local"


class Status(enum.StrEnum):
    """How a run ended; one word, apart from the guest's own exit code."""

    FINISHED = "finished"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    LIMIT = "limit"
    STOPPED = "stopped"
    DENIED = "denied"
    ENGINE_ERROR = "engine_error"


class Stream(enum.StrEnum):
    STDOUT = "stdout"
    STDERR = "stderr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings of one run. A caller's limits may only narrow the owner's (``narrowed_by``)."""

    timeout_s: float = 30.0
    """Wall-clock seconds in which the guest may run; time in the queue does not count."""
    memory_bytes: int = 512 * MIB
    """One budget for guest memory, ``/work`` and ``/tmp``, kept output and frames together."""
    output_bytes: int = 1 * MIB
    """Bytes of each of stdout and stderr that are kept: its head and its tail."""
    output_total_bytes: int = 64 * MIB
    """Bytes that the run may write to both streams before it is ended."""
    clock_resolution_ns: int = 1_000
    """Resolution of every clock the guest sees; coarser for plugins (1 ms)."""

    def narrowed_by(self, other: Limits) -> Limits:
        """The smaller of both in every field (for the clock: the coarser)."""
        return Limits(
            timeout_s=min(self.timeout_s, other.timeout_s),
            memory_bytes=min(self.memory_bytes, other.memory_bytes),
            output_bytes=min(self.output_bytes, other.output_bytes),
            output_total_bytes=min(self.output_total_bytes, other.output_total_bytes),
            clock_resolution_ns=max(self.clock_resolution_ns, other.clock_resolution_ns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A real folder, or a single file, that the guest sees as ``/work``."""

    path: Path
    read_only: bool = False
    """Plan no change at all: the guest may write, its changes are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRequest:
    language: Language
    source: str | None = None
    """The program's text; exactly one of ``source`` and ``entry`` is given."""
    source_name: str = "<code>"
    """How tracebacks name ``source``: the user's own file name."""
    entry: str | None = None
    """A program inside the workspace: a relative POSIX path (``pkg/main.py``)."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of ``/work`` given as values (relative POSIX path to content); excludes
    ``workspace``."""
    workspace: Workspace | None = None
    arguments: tuple[str, ...] = ()
    stdin: bytes | None = None
    """None: no standard input is connected (``input()`` raises EOFError with a hint)."""
    environment: Mapping[str, str] = field(default_factory=dict)
    timezone: str = "UTC"
    """An IANA name (``Europe/Berlin``)."""
    limits: Limits = field(default_factory=Limits)
    runtime: RuntimeName | None = None
    """None: ``NOVA_SANDBOX_RUNTIME``, then the settings, then wasm."""


class ChangeKind(enum.StrEnum):
    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One entry of a change plan."""

    path: str
    """Relative POSIX path under the workspace."""
    kind: ChangeKind
    is_directory: bool = False
    size: int = 0
    """Bytes after the change; 0 for a deletion or a directory."""
    size_before: int = 0
    sha256: str = ""
    """Of the new content; empty for a deletion or a directory."""
    media_type: str = ""
    mode: int | None = None
    """Permission bits of a file after the change; None when they stay as they were."""
    runs_outside: bool = False
    """Other programs run or obey this file later."""

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "kind": str(self.kind),
            "is_directory": self.is_directory,
            "size": self.size,
            "size_before": self.size_before,
            "sha256": self.sha256,
            "media_type": self.media_type,
            "mode": None if self.mode is None else f"{self.mode:04o}",
            "runs_outside": self.runs_outside,
        }


@dataclass(frozen=True, slots=True)
class PathNote:
    """A path of the workspace that was treated specially, and why (left out, withheld, …)."""

    path: str
    reason: str
    code: str

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "reason": self.reason, "code": self.code}


@dataclass(frozen=True, slots=True)
class Denied:
    """Something the guest tried and the sandbox refused by design."""

    operation: str
    target: str
    rule: str
    count: int = 1

    def to_json(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "target": self.target,
            "rule": self.rule,
            "count": self.count,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionResult:
    status: Status
    exit_code: int | None
    """The guest's own exit code; None when it did not get to give one."""
    stdout: str = ""
    stderr: str = ""
    """Decoded as UTF-8 with replacement, so that the result is always valid JSON."""
    truncated: Mapping[str, int] = field(default_factory=lambda: {"stdout": 0, "stderr": 0})
    """Bytes dropped from the middle of each stream."""
    files: tuple[FileChange, ...] = ()
    """The change plan, sorted by path."""
    left_out: tuple[PathNote, ...] = ()
    """What was not staged."""
    withheld: tuple[PathNote, ...] = ()
    """Planned changes that were not written, each with its reason (a conflict, a bad name)."""
    written: tuple[str, ...] = ()
    """Paths that were really changed on the host."""
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """New content of created and modified files, for a request without a workspace: values in,
    values out. Not part of the JSON."""
    value: None = None
    """Reserved until sessions exist."""
    denied: tuple[Denied, ...] = ()
    error: ErrorInfo | None = None
    duration_ms: float = 0.0
    queued_ms: float = 0.0
    runtime: str = ""
    enforced: tuple[str, ...] = ()
    """The layers that really confined this run."""
    sandboxed: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "status": str(self.status),
            "exit_code": self.exit_code,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "truncated": dict(self.truncated),
            "files": [change.to_json() for change in self.files],
            "left_out": [note.to_json() for note in self.left_out],
            "withheld": [note.to_json() for note in self.withheld],
            "written": list(self.written),
            "value": self.value,
            "denied": [denied.to_json() for denied in self.denied],
            "error": None if self.error is None else self.error.to_json(),
            "duration_ms": round(self.duration_ms, 3),
            "queued_ms": round(self.queued_ms, 3),
            "runtime": self.runtime,
            "enforced": list(self.enforced),
            "sandboxed": self.sandboxed,
        }


OutputCallback = Callable[[Stream, bytes], None]
"""Receives output while the guest runs, in order, on the guest's thread. Must be quick."""

ProgressCallback = Callable[[str, int, int], None]
"""``(what, done, total)``: called while staging, compiling, applying; total 0 = unknown."""
