"""``Engine``: what every front end calls."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from nova_desktop.engine.assemble import Parts
from nova_desktop.model import (
    Cancellation,
    ExecutionRequest,
    ExecutionResult,
    Limits,
    OutputCallback,
    ProgressCallback,
)
from nova_desktop.settings import Paths

if TYPE_CHECKING:
    from nova_desktop.engine.health import Health
    from nova_desktop.execute import ApproveCallback


class Engine:
    """All of Nova for one process. Opening costs nothing that is not used.

    ::

        with Engine.open() as engine:
            result = engine.execute(ExecutionRequest(language=Language.PYTHON, source="print(1)"))
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @classmethod
    def open(cls, home: Path | None = None) -> Engine:
        """``home``: keep everything of ours there; None: ``NOVA_HOME``, else this user's
        folders.

        Raises:
            InvalidRequest: ``NOVA_HOME`` is not an absolute path.
        """
        return cls(Parts(home))

    def close(self) -> None:
        self._parts.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def paths(self) -> Paths:
        """Where our own files live."""
        return self._parts.paths

    def execute(
        self,
        request: ExecutionRequest,
        *,
        on_output: OutputCallback | None = None,
        on_progress: ProgressCallback | None = None,
        approve: ApproveCallback | None = None,
        cancellation: Cancellation | None = None,
        owner_typed_runtime: bool = False,
    ) -> ExecutionResult:
        """Run one program over a copy of the workspace, and write back what the owner allows.

        Blocks until the program is over. ``on_output`` gets output as it comes.
        ``on_progress`` hears of staging, compiling and writing. ``approve`` is asked once,
        with the change plan; None writes nothing. ``cancellation`` stops the run from any
        thread; what it did so far is in the result. ``owner_typed_runtime`` is passed by the
        command line alone, when the owner typed the request's runtime there: it is one of the
        two keys of the unconfined runtime.

        Raises:
            InvalidRequest: the request makes no sense.
            Refused: the workspace, the runtime or a variable is not allowed.
            RuntimeUnavailable: the runtime cannot run here.
            WorkspaceError: the workspace cannot be read.
        """
        return self._parts.execution.execute(
            request,
            on_output=on_output,
            on_progress=on_progress,
            approve=approve,
            cancellation=cancellation,
            owner_typed_runtime=owner_typed_runtime,
        )

    def health(self, on_progress: ProgressCallback | None = None) -> Health:
        """What works on this machine, and what to do about what does not.

        Prepares the guests, which takes some seconds the first time.
        """
        from nova_desktop.engine.health import check_health

        return check_health(self._parts, on_progress)

    def describe_sandbox(self) -> str:
        """Ten lines that tell an AI model what its programs have and lack here.

        Raises:
            RuntimeUnavailable: the guests are not installed.
        """
        from nova_desktop.engine.health import library_pack
        from nova_desktop.execute.prompt import describe_sandbox
        from nova_desktop.sandbox.wasm.guests import Guests

        manifest = Guests().manifest
        names = [package.name for package in library_pack(manifest)]
        return describe_sandbox(names, python=str(manifest["python"]), limits=Limits())
