"""The journey of one run: validate, choose, stage, run, explain, plan, ask, apply.

Whatever the program does, what it wrote so far is kept: output, files, and the plan. Only a
request that cannot be carried out raises; a run that has begun always has a result.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from nova_desktop.execute.apply import Applied, apply_plan
from nova_desktop.execute.choose import choose_runtime
from nova_desktop.execute.contents import LazyContents
from nova_desktop.execute.explain import explained
from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.hints import output_hint
from nova_desktop.execute.plan import ChangePlan, make_plan
from nova_desktop.execute.text import printable
from nova_desktop.execute.validate import validated
from nova_desktop.execute.workspace import (
    HostWorkspace,
    Staging,
    StagingStopped,
    stage_folder,
    stage_values,
)
from nova_desktop.hostfs import NameRules
from nova_desktop.model import (
    MIB,
    Cancellation,
    Denied,
    ErrorInfo,
    ExecutionRequest,
    ExecutionResult,
    InvalidRequest,
    Limits,
    OutputCallback,
    ProgressCallback,
    RuntimeName,
    Status,
    Stream,
)
from nova_desktop.policy import build_guest_env
from nova_desktop.sandbox.runtime import Runtime, WorkEntry, WorkFiles
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram
from nova_desktop.settings import RuntimeSettings

ApproveCallback = Callable[[ChangePlan], bool | Collection[str]]
"""The owner's answer to a plan: False or nothing chosen writes nothing, True writes all but
what must be named, a collection writes exactly those paths."""

OWNER_LIMITS = Limits(
    timeout_s=24 * 3600.0,
    memory_bytes=4096 * MIB,
    output_bytes=64 * MIB,
    output_total_bytes=4096 * MIB,
)
"""The ceilings that a request can only narrow. Memory: a 32-bit guest cannot have more."""

WORK = "/work"


class ExecutionService:
    """``code.execute``: one object for all runs of an engine. Thread-safe, holds no run."""

    def __init__(
        self,
        *,
        runtime: Callable[[RuntimeName], Runtime[Any]],
        environment: Mapping[str, str],
        own_folders: Sequence[Path],
    ) -> None:
        """``runtime`` gives a runtime by name, built on first use. ``environment`` is where the
        owner's settings are read, at each run. ``own_folders`` are never staged."""
        self._runtime = runtime
        self._environment = environment
        self._own_folders = tuple(own_folders)

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
        """Run one program. See ``Engine.execute`` for the contract."""
        request = validated(request)
        settings = RuntimeSettings.from_environment(self._environment)
        name = choose_runtime(request, settings, owner_typed_runtime=owner_typed_runtime)
        limits = request.limits.narrowed_by(OWNER_LIMITS)
        if limits != request.limits:
            request = dataclasses.replace(request, limits=limits)
        runtime = self._runtime(name)
        run = _Run(request, name, runtime, cancellation or Cancellation(), on_progress)
        with ExitStack() as stack:
            workspace = None
            forbidden = ForbiddenFolders(self._own_folders)
            if request.workspace is not None:
                workspace = HostWorkspace.open(request.workspace.path, forbidden)
                stack.enter_context(workspace)
            return run.go(workspace, forbidden, on_output, approve)


@dataclasses.dataclass(slots=True)
class _Run:
    request: ExecutionRequest
    name: RuntimeName
    runtime: Runtime[Any]
    cancellation: Cancellation
    progress: ProgressCallback | None

    def go(
        self,
        workspace: HostWorkspace | None,
        forbidden: ForbiddenFolders,
        on_output: OutputCallback | None,
        approve: ApproveCallback | None,
    ) -> ExecutionResult:
        request = self.request
        self.runtime.prepare(request.language, self.progress)
        budget = MemoryBudget(request.limits.memory_bytes)
        files = self.runtime.new_files(request.language, budget)
        with ExitStack() as stack:
            # Files that lie on a disk are removed; those in memory go by themselves.
            if isinstance(files, AbstractContextManager):
                stack.enter_context(files)
            return self._go(files, budget, workspace, forbidden, on_output, approve)

    def _go(
        self,
        files: WorkFiles,
        budget: MemoryBudget,
        workspace: HostWorkspace | None,
        forbidden: ForbiddenFolders,
        on_output: OutputCallback | None,
        approve: ApproveCallback | None,
    ) -> ExecutionResult:
        request = self.request
        try:
            staging = self._stage(workspace, forbidden, files)
        except StagingStopped:
            return self._stopped_while_staging()
        self._check_entry(staging)
        outcome = self.runtime.run(
            self._program(),
            files,
            limits=request.limits,
            budget=budget,
            cancellation=self.cancellation,
            on_output=on_output,
        )
        outcome, error = self._explain(outcome, staging, on_output)
        plan = self._plan(workspace, staging, files, budget)
        applied = self._apply(workspace, plan, approve)
        contents = _contents(plan, files) if workspace is None else {}
        return self._result(outcome, error, staging, plan, applied, contents)

    def _stage(
        self, workspace: HostWorkspace | None, forbidden: ForbiddenFolders, files: WorkFiles
    ) -> Staging:
        if workspace is None:
            return stage_values(self.request.files, files)
        return stage_folder(
            workspace,
            files,
            room_bytes=self.request.limits.memory_bytes,
            forbidden=forbidden,
            cancellation=self.cancellation,
            progress=self.progress,
        )

    def _check_entry(self, staging: Staging) -> None:
        entry = self.request.entry
        if entry is None:
            return
        found = staging.entries.get(entry)
        if found is not None and not found.is_directory:
            return
        if found is not None:
            raise InvalidRequest(
                "request.entry_is_a_folder",
                f"The entry {entry} is a folder.",
                "Name the program's file inside it.",
            )
        note = next((note for note in staging.left_out if note.path == entry), None)
        why = f"it was left out: {note.reason}" if note else "the workspace has no such file"
        raise InvalidRequest(
            "request.entry_not_found",
            f"The entry {entry} cannot be run: {why}.",
            "Give its path relative to the workspace, in the right letter case.",
        )

    def _program(self) -> GuestProgram:
        request = self.request
        environment = {
            "HOME": WORK,
            "TMPDIR": "/tmp",  # noqa: S108 - the guest's own, in memory
            "LANG": "C.UTF-8",
            "TZ": request.timezone,
            **build_guest_env(request.environment),
        }
        return GuestProgram(
            language=request.language,
            source=request.source,
            source_name=request.source_name,
            entry=None if request.entry is None else f"{WORK}/{request.entry}",
            arguments=tuple(request.arguments),
            environment=environment,
            stdin=request.stdin,
            timezone=request.timezone,
        )

    def _explain(
        self, outcome: GuestOutcome, staging: Staging, on_output: OutputCallback | None
    ) -> tuple[GuestOutcome, ErrorInfo | None]:
        """The error of the result; its hint also goes where the traceback went."""
        error = explained(self.request, outcome, staging.left_out)
        hint = error.hint if error is not None else ""
        if not hint and (outcome.dropped_stdout or outcome.dropped_stderr):
            hint = output_hint(self.request)
        if not hint:
            return outcome, error
        line = f"nova: {printable(hint)}\n".encode()
        if outcome.stderr and not outcome.stderr.endswith(b"\n"):
            line = b"\n" + line
        if on_output is not None:
            on_output(Stream.STDERR, line)
        return dataclasses.replace(outcome, stderr=outcome.stderr + line), error

    def _plan(
        self,
        workspace: HostWorkspace | None,
        staging: Staging,
        files: WorkFiles,
        budget: MemoryBudget,
    ) -> ChangePlan:
        wanted = self.request.workspace
        if wanted is not None and wanted.read_only:
            return ChangePlan()
        # A run that was stopped keeps what it wrote so far; a stop from here on is another one.
        entries = files.walk() if self.cancellation.requested else self._until_stopped(files)
        if self.progress is not None:
            self.progress("Comparing files", 0, 0)
        try:
            return make_plan(
                staging.entries,
                entries,
                left_out=staging.left_out,
                only=None if workspace is None else workspace.only,
                rules=NameRules.of_this_system(),
                most_bytes=self.request.limits.memory_bytes,
                budget=budget,
                place=() if workspace is None else workspace.folder.parts,
            )
        except _ComparingStopped:
            return ChangePlan(error=_stopped("while its files were compared"))

    def _until_stopped(self, files: WorkFiles) -> Iterator[WorkEntry]:
        """A guest may leave a hundred thousand files: seconds of work after its deadline."""
        for entry in files.walk():
            if self.cancellation.requested:
                raise _ComparingStopped
            yield entry

    def _apply(
        self, workspace: HostWorkspace | None, plan: ChangePlan, approve: ApproveCallback | None
    ) -> Applied:
        unwritten = Applied(withheld=plan.withheld, error=plan.error)
        if workspace is None or approve is None or not plan.planned:
            return unwritten
        # A run that its owner stopped is half done: she is not asked to write its halves. If the
        # program was over by then, only this error tells it from one with nothing to write.
        if self.cancellation.requested:
            return Applied(
                withheld=plan.withheld, error=_stopped("before its changes were written")
            )
        answer = approve(plan)
        if isinstance(answer, bool):
            if not answer:
                return unwritten
            return apply_plan(plan, workspace.directory, None, progress=self.progress)
        if not answer:
            return unwritten
        chosen = frozenset(answer)
        return apply_plan(plan, workspace.directory, chosen, progress=self.progress)

    def _result(
        self,
        outcome: GuestOutcome,
        error: ErrorInfo | None,
        staging: Staging,
        plan: ChangePlan,
        applied: Applied,
        contents: Mapping[str, bytes],
    ) -> ExecutionResult:
        return ExecutionResult(
            status=outcome.status,
            exit_code=outcome.exit_code,
            stdout=outcome.stdout.decode("utf-8", "replace"),
            stderr=outcome.stderr.decode("utf-8", "replace"),
            truncated={"stdout": outcome.dropped_stdout, "stderr": outcome.dropped_stderr},
            files=plan.changes,
            left_out=tuple(sorted(staging.left_out, key=lambda note: note.path)),
            withheld=applied.withheld,
            written=applied.written,
            contents=contents,
            denied=tuple(map(_printable_denied, outcome.denied)),
            error=error or applied.error,
            duration_ms=outcome.duration_ns / 1e6,
            queued_ms=outcome.queued_ns / 1e6,
            runtime=str(self.name),
            enforced=outcome.enforced,
            sandboxed=self.name is not RuntimeName.LOCAL,
        )

    def _stopped_while_staging(self) -> ExecutionResult:
        return ExecutionResult(
            status=Status.STOPPED,
            exit_code=None,
            error=_stopped("while its files were read"),
            runtime=str(self.name),
            sandboxed=self.name is not RuntimeName.LOCAL,
        )


class _ComparingStopped(Exception):
    pass


def _stopped(when: str) -> ErrorInfo:
    return ErrorInfo("run.stopped", f"The run was stopped {when}.")


def _contents(plan: ChangePlan, files: WorkFiles) -> Mapping[str, bytes]:
    contents = LazyContents(plan)
    # Files that lie on a disk are removed when the run is over.
    return dict(contents) if isinstance(files, AbstractContextManager) else contents


def _printable_denied(denied: Denied) -> Denied:
    return Denied(printable(denied.operation), printable(denied.target), denied.rule, denied.count)
