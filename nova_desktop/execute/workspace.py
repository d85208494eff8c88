"""Staging: the owner's folder, or one file of it, copied into ``/work`` before a run.

First everything is counted (names and sizes), then refused or read. Links, special files and
what cannot be read are left out, each with a note, and are never seen as deleted later: only
what was staged can be. Nothing of the owner's is touched here.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.text import printable
from nova_desktop.hostfs import (
    Entry,
    FileKind,
    FileState,
    NotARegularFile,
    StillChanging,
    TooLarge,
    open_directory,
)
from nova_desktop.hostfs.names import NameRules, is_temporary, name_problem
from nova_desktop.model import (
    MIB,
    Cancellation,
    PathNote,
    ProgressCallback,
    Refused,
    WorkspaceError,
)
from nova_desktop.sandbox.runtime import WorkFiles
from nova_desktop.sandbox.wasm.budget import BudgetExceeded
from nova_desktop.sandbox.wasm.memfs_nodes import OBJECT_BYTES

if TYPE_CHECKING:
    from nova_desktop.hostfs.posix import Directory

ENTRY_BYTES = 2 * OBJECT_BYTES + 256 + 512
"""What the memory budget charges for a file and its (longest) name, besides the content, and
for comparing it after the run."""
GUEST_BYTES = 32 * MIB
"""Room that an interpreter needs before it can do anything with the files."""
MAX_DEPTH = 63
MAX_PATH_BYTES = 4096 - len("/work/")
"""Both as in the guest's file system, which counts ``/work`` as well."""

_PROGRESS_EVERY_S = 0.1


class StagingStopped(Exception):
    """The owner stopped the run while its files were read."""


@dataclass(frozen=True, slots=True)
class Staged:
    """One entry as the guest first saw it."""

    is_directory: bool
    sha256: str
    size: int
    permissions: int
    state: FileState | None
    """Its state on the host; None for a file that was given as a value."""


@dataclass(slots=True)
class Staging:
    """What was given to the guest, and what was not."""

    entries: dict[str, Staged] = field(default_factory=dict)
    left_out: list[PathNote] = field(default_factory=list)


@dataclass(slots=True)
class _Folder:
    path: tuple[str, ...]
    state: FileState
    files: list[Entry]


class HostWorkspace:
    """The owner's folder, open. ``only`` names the one file, when a file was given."""

    def __init__(self, path: Path, directory: Directory, only: str | None) -> None:
        self.path = path
        self.directory = directory
        self.only = only

    @classmethod
    def open(cls, path: Path, forbidden: ForbiddenFolders) -> HostWorkspace:
        """Open what the owner named; links on the way there are the owner's own.

        Raises:
            WorkspaceError: it is missing, unreadable, neither a folder nor a file, or this system
                is not supported yet.
            Refused: it is a folder that is never given.
        """
        shown = printable(os.fspath(path))
        try:
            resolved = path.resolve(strict=True)
            kind = FileState.of(resolved.stat()).kind
            if kind is FileKind.SPECIAL:
                raise WorkspaceError(
                    "workspace.not_a_folder",
                    f"{shown} is neither a folder nor a file.",
                    "Name a folder, or one regular file.",
                )
            folder = resolved if kind is FileKind.DIRECTORY else resolved.parent
            # One file beside others may be given where its whole folder may not (a letter
            # that lies in the home folder), but nothing out of the private folders.
            reason = forbidden.reason(resolved)
            if reason:
                raise _forbidden(shown, reason)
            directory = open_directory(folder)
            if folder is resolved and forbidden.forbids_subfolder(directory.own_state().identity):
                # A folder on the way was exchanged after the look at the path.
                directory.close()
                raise _forbidden(shown, "it leads to another folder now")
        except (FileNotFoundError, NotADirectoryError):
            raise WorkspaceError(
                "workspace.not_found",
                f"There is no file or folder {shown}.",
                "Check the path and its spelling.",
            ) from None
        except PermissionError:
            raise _unreadable(shown) from None
        except (OSError, ValueError, RuntimeError) as error:
            # ValueError: a NUL in the path. RuntimeError: links in a circle (until 3.13).
            raise WorkspaceError(
                "workspace.unusable",
                f"{shown} cannot be opened: {error}.",
                "Name another folder.",
            ) from error
        return cls(resolved, directory, None if kind is FileKind.DIRECTORY else resolved.name)

    @property
    def folder(self) -> Path:
        """The path of ``directory``."""
        return self.path if self.only is None else self.path.parent

    def close(self) -> None:
        self.directory.close()

    def __enter__(self) -> HostWorkspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def stage_values(files: Mapping[str, bytes], target: WorkFiles) -> Staging:
    """Stage files that were given as values (paths already validated).

    Raises:
        WorkspaceError: they need more memory than the run may use.
    """
    staging = Staging()
    now = time.time_ns()
    for path, content in sorted(files.items()):
        parts = path.split("/")
        try:
            for count in range(1, len(parts)):
                folder = "/".join(parts[:count])
                if folder not in staging.entries:
                    target.stage_directory(folder, mtime_ns=now)
                    staging.entries[folder] = Staged(True, "", 0, 0o755, None)
            target.stage_file(path, content, mtime_ns=now)
        except BudgetExceeded:
            size = sum(map(len, files.values()))
            raise WorkspaceError(
                "workspace.too_large",
                f"The files given hold {_megabytes(size)}, more than the run's memory limit"
                " leaves room for.",
                "Raise the memory limit, or give fewer files.",
            ) from None
        digest = hashlib.sha256(content).hexdigest()
        staging.entries[path] = Staged(False, digest, len(content), 0o644, None)
    return staging


def stage_folder(
    workspace: HostWorkspace,
    target: WorkFiles,
    *,
    room_bytes: int,
    forbidden: ForbiddenFolders,
    cancellation: Cancellation,
    progress: ProgressCallback | None = None,
) -> Staging:
    """Copy the workspace into ``target``.

    ``room_bytes``: the run's whole memory budget.

    Raises:
        WorkspaceError: too large (said before anything is read), or unreadable as a whole.
        StagingStopped: the owner stopped it.
    """
    return _Stager(workspace, target, room_bytes, forbidden, cancellation, progress).run()


class _Stager:
    def __init__(
        self,
        workspace: HostWorkspace,
        target: WorkFiles,
        room_bytes: int,
        forbidden: ForbiddenFolders,
        cancellation: Cancellation,
        progress: ProgressCallback | None,
    ) -> None:
        self._workspace = workspace
        self._target = target
        self._room_bytes = room_bytes
        self._forbidden = forbidden
        self._cancellation = cancellation
        self._progress = progress
        self._next_progress = 0.0
        self._staging = Staging()
        self._folders: list[_Folder] = []
        self._counted = 0
        self._bytes = 0
        self._bytes_read = 0
        self._bytes_by_top: dict[str, int] = {}

    def run(self) -> Staging:
        only = self._workspace.only
        root = self._workspace.directory
        if only is None:
            for missing in self._forbidden.missing_below(self._workspace.path):
                self._leave_out((), missing, "left_out.forbidden", "it will hold Nova's own state")
            try:
                self._count(root, ())
            except PermissionError:
                raise _unreadable(printable(str(self._workspace.path))) from None
            except OSError as error:
                shown = printable(str(self._workspace.path))
                raise WorkspaceError(
                    "workspace.unusable",
                    f"{shown} cannot be read: {_system_reason(error)}.",
                    "Check the disk that it lies on, or name another folder.",
                ) from error
        else:
            if problem := name_problem(only, NameRules.POSIX):
                raise WorkspaceError(
                    "workspace.unusable",
                    f"The file {printable(only)} cannot be used: {problem.reason}.",
                    "Rename it, or give its folder.",
                )
            state = root.state(only)
            if state is None:
                raise WorkspaceError(
                    "workspace.not_found",
                    f"The file {printable(only)} is gone.",
                    "Check the path and its spelling.",
                )
            self._folders.append(_Folder((), root.own_state(), [Entry(only, state)]))
            self._add_size((), Entry(only, state))
        self._refuse_if_too_large(self._bytes)
        for folder in self._folders:
            self._read(folder)
        if only is not None and only not in self._staging.entries:
            note = self._staging.left_out[0]
            raise WorkspaceError(
                "workspace.unreadable",
                f"The file {printable(only)} cannot be used: {note.reason}.",
                "Give yourself permission to read it, or try again when nothing changes it.",
            )
        return self._staging

    # Counting: names and sizes, no contents

    def _count(self, directory: Directory, path: tuple[str, ...]) -> None:
        folder = _Folder(path, directory.own_state(), [])
        entries = directory.scan()
        self._folders.append(folder)
        for entry in entries:
            self._pause("Counting files", self._counted, 0)
            self._counted += 1
            if reason := self._left_out_reason(path, entry):
                self._leave_out(path, entry.name, *reason)
            elif entry.state.kind is FileKind.FILE:
                folder.files.append(entry)
                self._add_size(path, entry)
            else:
                self._count_folder(directory, path, entry)

    def _count_folder(self, directory: Directory, path: tuple[str, ...], entry: Entry) -> None:
        try:
            with directory.folder(entry.name) as inner:
                self._add_size(path, entry)
                self._count(inner, (*path, entry.name))
        except PermissionError:
            self._leave_out(path, entry.name, "left_out.unreadable", "no permission to read it")
        except OSError as error:
            # It was a folder a moment ago: replaced by a link, or removed.
            self._leave_out(path, entry.name, "left_out.changing", _system_reason(error))

    def _left_out_reason(self, path: tuple[str, ...], entry: Entry) -> tuple[str, str] | None:
        if entry.state.kind is FileKind.LINK:
            return "left_out.link", "it is a link"
        if entry.state.kind is FileKind.SPECIAL:
            return "left_out.special_file", "it is a pipe, socket or device"
        if problem := name_problem(entry.name, NameRules.POSIX):
            return "left_out.bad_name", problem.reason
        if is_temporary(entry.name):
            return "left_out.temporary", "it is left from a run that was interrupted while writing"
        full = (*path, entry.name)
        if len(full) > MAX_DEPTH or len("/".join(full).encode()) > MAX_PATH_BYTES:
            return "left_out.too_deep", f"it lies more than {MAX_DEPTH} folders deep"
        if entry.state.kind is FileKind.DIRECTORY and self._forbidden.forbids_subfolder(
            entry.state.identity
        ):
            return "left_out.forbidden", "it holds keys, private profiles or the system's state"
        return None

    def _add_size(self, path: tuple[str, ...], entry: Entry) -> None:
        size = ENTRY_BYTES + (entry.state.size if entry.state.kind is FileKind.FILE else 0)
        self._bytes += size
        top = path[0] if path else entry.name
        self._bytes_by_top[top] = self._bytes_by_top.get(top, 0) + size

    def _refuse_if_too_large(self, needed: int) -> None:
        if needed + GUEST_BYTES <= self._room_bytes:
            return
        largest = sorted(self._bytes_by_top.items(), key=lambda item: -item[1])[:3]
        listed = ", ".join(f"{printable(name)} ({_megabytes(size)})" for name, size in largest)
        enough = -(-(needed + GUEST_BYTES) // MIB) + 64
        raise WorkspaceError(
            "workspace.too_large",
            f"{printable(str(self._workspace.path))} holds {_megabytes(needed)}; the run's memory"
            f" limit of {_megabytes(self._room_bytes)} must hold it and the program."
            f" Largest: {listed}.",
            f"Give a smaller folder, or raise the limit: --memory {enough}M.",
            bytes=str(needed),
        )

    def _grew(self) -> NoReturn:
        raise WorkspaceError(
            "workspace.too_large",
            f"{printable(str(self._workspace.path))} grew while it was read, past the run's memory"
            f" limit of {_megabytes(self._room_bytes)}.",
            "Try again when no other program writes there, or raise the limit with --memory.",
        )

    # Reading

    def _read(self, folder: _Folder) -> None:
        shown = "/".join(folder.path)
        if folder.path:
            self._stage_directory(shown, folder.state)
        try:
            directory = self._workspace.directory.descend(folder.path)
        except OSError as error:
            for entry in folder.files:
                self._leave_out(folder.path, entry.name, "left_out.changing", _system_reason(error))
            return
        with directory:
            swapped = directory.own_state().identity != folder.state.identity
            for entry in folder.files:
                self._pause("Reading files", self._bytes_read, self._bytes)
                if swapped:
                    self._leave_out(
                        folder.path,
                        entry.name,
                        "left_out.changing",
                        "its folder was replaced while it was staged",
                    )
                else:
                    self._read_file(directory, folder.path, entry)

    def _read_file(self, directory: Directory, path: tuple[str, ...], entry: Entry) -> None:
        name = entry.name
        try:
            content, state = directory.read_file(name, limit=self._room_bytes)
        except NotARegularFile as error:
            self._leave_out(path, name, "left_out.changing", f"it became a {error}")
        except StillChanging:
            self._leave_out(path, name, "left_out.changing", "another program was writing to it")
        except TooLarge:
            self._grew()
        except PermissionError:
            self._leave_out(path, name, "left_out.unreadable", "no permission to read it")
        except FileNotFoundError:
            self._leave_out(path, name, "left_out.changing", "it vanished while it was staged")
        except OSError as error:
            self._leave_out(path, name, "left_out.unreadable", _system_reason(error))
        else:
            shown = "/".join((*path, name))
            try:
                self._target.stage_file(
                    shown, content, mode=state.permissions, mtime_ns=state.mtime_ns
                )
            except BudgetExceeded:
                self._grew()
            self._staging.entries[shown] = Staged(
                False, hashlib.sha256(content).hexdigest(), len(content), state.permissions, state
            )
            self._bytes_read += len(content) + ENTRY_BYTES

    def _stage_directory(self, path: str, state: FileState) -> None:
        try:
            self._target.stage_directory(path, mode=state.permissions, mtime_ns=state.mtime_ns)
        except BudgetExceeded:
            self._grew()
        self._staging.entries[path] = Staged(True, "", 0, state.permissions, state)
        self._bytes_read += ENTRY_BYTES

    # Both

    def _leave_out(self, path: tuple[str, ...], name: str, code: str, reason: str) -> None:
        self._staging.left_out.append(PathNote(printable("/".join((*path, name))), reason, code))

    def _pause(self, what: str, done: int, total: int) -> None:
        if self._cancellation.requested:
            raise StagingStopped
        if self._progress is not None and (now := time.monotonic()) >= self._next_progress:
            self._next_progress = now + _PROGRESS_EVERY_S
            self._progress(what, done, total)


def _forbidden(shown: str, reason: str) -> Refused:
    return Refused(
        "workspace.forbidden",
        f"{shown} is never given to a program: {reason}.",
        "Put the files that the program needs into a folder of their own.",
    )


def _unreadable(shown: str) -> WorkspaceError:
    return WorkspaceError(
        "workspace.unreadable",
        f"{shown} may not be read by you.",
        "Give yourself permission to read it, or name another folder.",
    )


def _system_reason(error: OSError) -> str:
    return f"the system says: {error.strerror or type(error).__name__}"


def _megabytes(size: int) -> str:
    return f"{size / MIB:,.1f} MB"
