"""What every runtime of ``code.execute`` offers, and what its view of the files offers.

Two things have this shape: the WASM runtime with files in memory, and the unconfined one with a
private folder. A runtime gets the staged files, runs the program, and leaves the files for
whoever compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from nova_desktop.model import (
    Cancellation,
    Language,
    Limits,
    OutputCallback,
    ProgressCallback,
)
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram


class WorkEntry(Protocol):
    """One entry of ``/work`` after a run. Its path is the guest's word: hostile text."""

    @property
    def path(self) -> str:
        """Relative, ``/`` between components; bytes that are not UTF-8 as surrogate escapes."""
        ...

    @property
    def is_directory(self) -> bool: ...
    @property
    def size(self) -> int: ...
    @property
    def mode(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...

    @property
    def staged_as(self) -> str | None:
        """The path it was staged under; None when the guest made it."""
        ...

    @property
    def content_changed(self) -> bool:
        """False only when the content certainly is what was staged."""
        ...

    def chunks(self) -> Iterator[bytes | bytearray | memoryview]:
        """The content in pieces, holes as zeros."""
        ...


class WorkFiles(Protocol):
    """``/work``: filled before a run, compared after it."""

    def stage_directory(self, path: str, *, mode: int = 0o755, mtime_ns: int = 0) -> None: ...

    def stage_file(
        self, path: str, content: bytes, *, mode: int = 0o644, mtime_ns: int = 0
    ) -> None:
        """Raises:
        BudgetExceeded: there is no room; nothing was staged.
        """
        ...

    def walk(self) -> Iterable[WorkEntry]:
        """Every entry, folders before what is in them, sorted."""
        ...


Files = TypeVar("Files", bound=WorkFiles)


class Runtime(Protocol[Files]):
    def prepare(self, language: Language, progress: ProgressCallback | None = None) -> None:
        """Raises:
        RuntimeUnavailable: it cannot run this language here.
        """
        ...

    def new_files(self, language: Language, budget: MemoryBudget) -> Files: ...

    def run(
        self,
        program: GuestProgram,
        files: Files,
        *,
        limits: Limits,
        budget: MemoryBudget,
        cancellation: Cancellation,
        on_output: OutputCallback | None = None,
    ) -> GuestOutcome: ...

    def close(self) -> None: ...
