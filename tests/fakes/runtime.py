"""A runtime whose guest is a function of the test: the journey without an interpreter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nova_desktop.model import (
    Cancellation,
    Language,
    Limits,
    OutputCallback,
    ProgressCallback,
    Status,
)
from nova_desktop.sandbox.unconfined import LocalFiles
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram

Guest = Callable[[Path], GuestOutcome | None]
"""Gets the folder that is ``/work``; None stands for a run that finished."""

FINISHED = GuestOutcome(status=Status.FINISHED, exit_code=0, stdout=b"", stderr=b"")


class FunctionRuntime:
    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self.programs: list[GuestProgram] = []
        self.limits: list[Limits] = []

    def prepare(self, language: Language, progress: ProgressCallback | None = None) -> None:
        pass

    def new_files(self, language: Language, budget: MemoryBudget) -> LocalFiles:
        return LocalFiles()

    def run(
        self,
        program: GuestProgram,
        files: LocalFiles,
        *,
        limits: Limits,
        budget: MemoryBudget,
        cancellation: Cancellation,
        on_output: OutputCallback | None = None,
    ) -> GuestOutcome:
        self.programs.append(program)
        self.limits.append(limits)
        return self._guest(files.root) or FINISHED

    def close(self) -> None:
        pass
