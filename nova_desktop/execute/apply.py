"""Writing a change plan to the owner's folder.

In this order, because each step may fail and what came before must then be harmless:

1. new folders are made, and every new content is written whole to a temporary file beside its
   place; so room and permission are known before anything of the owner's changes;
2. the contents are brought to the disk;
3. each temporary file changes places with the owner's in one step, after a last look that this
   is still the one that was staged; what comes out is looked at as well, and put back if
   another program changed it in the last moment;
4. what the guest deleted is set aside, looked at and deleted, files before their folders; what
   it moved is deleted only when its new place was written;
5. a file that becomes a folder, or the reverse, comes last: it cannot be one step.

No room in step 1 undoes step 1 and writes nothing. A problem with one file is that file's
alone: it is reported with its reason and the others go on.
"""

from __future__ import annotations

import errno
import hashlib
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nova_desktop.execute.plan import ChangePlan, Planned
from nova_desktop.execute.workspace import Staged
from nova_desktop.hostfs import (
    FileKind,
    FileState,
    NotARegularFile,
    StillChanging,
    TooLarge,
)
from nova_desktop.model import ChangeKind, ErrorInfo, PathNote, ProgressCallback

if TYPE_CHECKING:
    from nova_desktop.hostfs.posix import Directory

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_PERMISSION = {errno.EACCES, errno.EPERM, errno.EROFS}

MAX_SINGLE_FLUSHES = 16
"""Up to so many files are flushed one by one; for more, one flush of the file system is
faster."""


@dataclass(frozen=True, slots=True)
class Applied:
    written: tuple[str, ...] = ()
    withheld: tuple[PathNote, ...] = ()
    error: ErrorInfo | None = None
    """Set when nothing could be written for a reason that concerns all of the plan."""


@dataclass(slots=True)
class _Prepared:
    item: Planned
    folder: tuple[str, ...]
    name: str
    temporary: str
    state: FileState


class _Withheld(Exception):
    """One change is not written."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def apply_plan(
    plan: ChangePlan,
    root: Directory,
    chosen: Collection[str] | None,
    *,
    progress: ProgressCallback | None = None,
) -> Applied:
    """Write what the owner chose: these paths and the new folders that they need; None stands
    for everything but what must be named."""
    return _Applier(root, progress).run(plan, chosen)


@dataclass(slots=True)
class _Applier:
    root: Directory
    progress: ProgressCallback | None
    written: list[str] = field(default_factory=list)
    withheld: dict[str, PathNote] = field(default_factory=dict)
    _prepared: deque[_Prepared] = field(default_factory=deque)
    _made: list[tuple[str, ...]] = field(default_factory=list)
    _parent: tuple[tuple[str, ...], Directory] | None = None
    _moved: dict[str, str] = field(default_factory=dict)
    """Old path to new one of files that the guest renamed."""

    def run(self, plan: ChangePlan, chosen: Collection[str] | None) -> Applied:
        for note in plan.withheld:
            self.withheld[note.path] = note
        todo = self._choose(plan, chosen)
        retyped = _retyped(todo)
        usual = [item for item in todo if not _is_under(item.change.path, retyped)]
        late = [item for item in todo if _is_under(item.change.path, retyped)]
        self._moved = _moved(plan.planned, {item.change.path for item in late})
        try:
            try:
                self._prepare(usual)
                self._flush()
            except OSError as error:
                reason = self._undo_preparation(error, todo)
                return Applied((), tuple(self._sorted_notes()), reason)
            self._commit()
            self._delete(usual)
            self._write_one_by_one(late)
        finally:
            # Whatever happened, none of our temporary files stays behind.
            self._discard_prepared()
            self._close_parent()
        return Applied(tuple(sorted(set(self.written))), tuple(self._sorted_notes()))

    def _sorted_notes(self) -> list[PathNote]:
        return sorted(self.withheld.values(), key=lambda note: note.path)

    # What is to be written

    def _choose(self, plan: ChangePlan, chosen: Collection[str] | None) -> list[Planned]:
        parents = _parents_of(chosen or ())
        todo = []
        for item in plan.planned:
            change = item.change
            if change.path in self.withheld:
                continue
            new_folder = change.is_directory and change.kind is ChangeKind.CREATED
            if chosen is None:
                if item.runs_outside_reason:
                    self._withhold(change.path, "apply.runs_outside", item.runs_outside_reason)
                    continue
            elif change.path not in chosen and not (new_folder and change.path in parents):
                self._withhold(change.path, "apply.not_chosen", "it was not chosen")
                continue
            todo.append(item)
        return todo

    # Step 1

    def _prepare(self, todo: list[Planned]) -> None:
        """Raises:
        OSError: there is no room.
        """
        new = [item for item in todo if item.change.kind is not ChangeKind.DELETED]
        for count, item in enumerate(new):
            self._report("Writing files", count, len(new))
            with self._each(item, pass_no_room=True):
                self._prepare_one(item, flush=len(new) <= MAX_SINGLE_FLUSHES)

    def _prepare_one(self, item: Planned, *, flush: bool) -> None:
        folder, name = _split(item.change.path)
        parent = self._open(folder)
        if item.change.is_directory:
            self._make_folder(parent, folder, name)
            return
        now = self._check_unchanged(parent, name, item.before)
        if item.only_mode_changes:
            return
        after = item.after
        if after is None:
            raise AssertionError("a change that is no deletion has new content")
        temporary, state = parent.write_temporary(
            after.chunks(),
            mode=after.mode,
            mtime_ns=after.mtime_ns,
            replaces=None if now is None else name,
            flush=flush,
        )
        self._prepared.append(_Prepared(item, folder, name, temporary, state))

    def _make_folder(self, parent: Directory, folder: tuple[str, ...], name: str) -> None:
        try:
            parent.make_folder(name)
        except FileExistsError:
            there = parent.state(name)
            if there is None or there.kind is not FileKind.DIRECTORY:
                raise
            return  # another program made the same folder: nothing to do
        self._made.append((*folder, name))
        self.written.append("/".join((*folder, name)))

    def _undo_preparation(self, error: OSError, todo: list[Planned]) -> ErrorInfo:
        """Nothing of the owner's has changed yet; take back what is ours and say so."""
        self._discard_prepared()
        for path in reversed(self._made):
            # Another program may have put something into it: then the folder is that one's.
            with suppress(OSError):
                self._open(path[:-1]).remove_folder(path[-1])
        self.written.clear()
        code, reason = _explained(error)
        for item in todo:
            self._withhold(item.change.path, code, reason)
        if code != "apply.no_room":
            return ErrorInfo(
                code,
                f"Nothing was written: {reason}. Your files are as they were.",
                "Check the disk, then run it again.",
            )
        needed = sum(item.change.size for item in todo)
        return ErrorInfo(
            code,
            f"Nothing was written: the disk has no room for the {needed:,} bytes of this plan"
            f" ({error.strerror}). Your files are as they were.",
            "Free some room and run it again, or choose fewer files.",
            details={"bytes": str(needed)},
        )

    # Step 2

    def _flush(self) -> None:
        if len(self._prepared) > MAX_SINGLE_FLUSHES:
            self.root.flush_file_system()

    # Step 3

    def _commit(self) -> None:
        while self._prepared:
            prepared = self._prepared[0]
            with self._each(prepared.item):
                self._commit_one(prepared)
            if prepared.item.change.path in self.withheld:
                self._discard(prepared)
            self._prepared.popleft()

    def _commit_one(self, prepared: _Prepared) -> None:
        item = prepared.item
        parent = self._open(prepared.folder)
        there = parent.state(prepared.temporary)
        if there is None or not there.same_version(prepared.state):
            # Its folder was exchanged for another one under our hands.
            raise _Withheld("apply.conflict", "its folder was replaced meanwhile")
        if item.before is None:
            parent.create_from(prepared.temporary, prepared.name)
        else:
            self._replace(parent, prepared)
        self.written.append(item.change.path)

    def _replace(self, parent: Directory, prepared: _Prepared) -> None:
        temporary, name = prepared.temporary, prepared.name
        now = self._check_unchanged(parent, name, prepared.item.before)
        if now is None or not parent.exchange(temporary, name):
            # Here, what another program writes between the look and this call is lost.
            parent.replace_from(temporary, name)
            return
        replaced = parent.state(temporary)
        if replaced is None or not replaced.same_data(now):
            try:
                parent.exchange(temporary, name)
            except FileNotFoundError:  # ours was removed again: then nothing is in its way
                parent.create_from(temporary, name)
            raise _Withheld("apply.conflict", "another program changed it meanwhile")
        parent.remove_file(temporary)

    # Step 4

    def _delete(self, todo: list[Planned]) -> None:
        deletions = [item for item in todo if item.change.kind is ChangeKind.DELETED]
        written = set(self.written)
        # Reversed: what is in a folder sorts behind it and must go first.
        for item in reversed(deletions):
            with self._each(item):
                moved_to = self._moved.get(item.change.path)
                if moved_to is not None and moved_to not in written:
                    raise _Withheld("apply.moved", f"it was moved to {moved_to}, not written")
                self._delete_one(item)
        for item in todo:
            if item.only_mode_changes:
                with self._each(item):
                    self._set_mode(item)

    def _delete_one(self, item: Planned) -> None:
        folder, name = _split(item.change.path)
        parent = self._open(folder)
        state = parent.state(name)
        if state is None:
            return  # somebody else deleted it: it is as the guest left it
        if item.change.is_directory:
            if state.kind is not FileKind.DIRECTORY:
                raise _Withheld("apply.conflict", f"it became a {state.kind.value} meanwhile")
            parent.remove_folder(name)
        else:
            self._remove_file(parent, name, item.before)
        self.written.append(item.change.path)

    def _remove_file(self, parent: Directory, name: str, before: Staged | None) -> None:
        now = self._check_unchanged(parent, name, before)
        aside = parent.set_aside(name)
        there = parent.state(aside)
        if now is None or there is None or not there.same_data(now):
            try:
                parent.create_from(aside, name)
            except FileExistsError:  # a third version: both are kept
                reason = f"other programs changed it twice meanwhile; one version is now {aside}"
                raise _Withheld("apply.conflict", reason) from None
            raise _Withheld("apply.conflict", "another program changed it meanwhile")
        parent.remove_file(aside)

    def _set_mode(self, item: Planned) -> None:
        if item.change.path in self.withheld or item.change.mode is None:
            return
        folder, name = _split(item.change.path)
        self._open(folder).set_permissions(name, item.change.mode)
        self.written.append(item.change.path)

    # Step 5

    def _write_one_by_one(self, late: list[Planned]) -> None:
        self._delete(late)
        for item in late:
            path = item.change.path
            if item.change.kind is ChangeKind.DELETED or path in self.withheld:
                continue
            with self._each(item):
                self._prepare_one(item, flush=True)
            self._commit()

    # Shared

    def _check_unchanged(
        self, parent: Directory, name: str, before: Staged | None
    ) -> FileState | None:
        """The present state of the owner's file, if it is still what the guest was given.

        In doubt (other times, same size) the content decides: an editor that saved the same
        text, or a changed permission, is no reason to lose the guest's work.
        """
        now = parent.state(name)
        if before is None:
            if now is not None:
                raise _Withheld("apply.conflict", "something with that name appeared meanwhile")
            return None
        if now is None:
            raise _Withheld("apply.conflict", "it was deleted meanwhile")
        if now.kind is not FileKind.FILE:
            raise _Withheld("apply.conflict", f"it became a {now.kind.value} meanwhile")
        if not now.mode & 0o222:
            raise _Withheld("apply.read_only_file", "it is marked read-only")
        if before.state is None or not now.same_version(before.state):
            self._check_same_content(parent, name, before)
        return now

    def _check_same_content(self, parent: Directory, name: str, before: Staged) -> None:
        try:
            content, _ = parent.read_file(name, limit=before.size)
        except (TooLarge, StillChanging, NotARegularFile):
            same = False
        else:
            same = hashlib.sha256(content).hexdigest() == before.sha256
        if not same:
            raise _Withheld("apply.conflict", "another program changed it meanwhile")

    @contextmanager
    def _each(self, item: Planned, *, pass_no_room: bool = False) -> Iterator[None]:
        """Turn the failure of one change into a note about it."""
        try:
            yield
        except _Withheld as reason:
            self._withhold(item.change.path, reason.code, reason.reason)
        except FileExistsError:
            self._withhold(
                item.change.path, "apply.conflict", "something with that name appeared meanwhile"
            )
        except OSError as error:
            if pass_no_room and error.errno in _NO_ROOM:
                raise
            self._withhold(item.change.path, *_explained(error))

    def _open(self, folder: tuple[str, ...]) -> Directory:
        """The folder, opened anew along the handle; neighbours share one opening."""
        if self._parent is None or self._parent[0] != folder:
            self._close_parent()
            self._parent = folder, self.root.descend(folder)
        return self._parent[1]

    def _close_parent(self) -> None:
        if self._parent is not None:
            self._parent[1].close()
            self._parent = None

    def _discard_prepared(self) -> None:
        for prepared in self._prepared:
            self._discard(prepared)
        self._prepared.clear()

    def _discard(self, prepared: _Prepared) -> None:
        try:
            parent = self._open(prepared.folder)
            there = parent.state(prepared.temporary)
            if there is not None and there.identity == prepared.state.identity:
                parent.remove_file(prepared.temporary)
        except OSError:
            # Its folder is gone or replaced; the temporary file went with it.
            self._close_parent()

    def _withhold(self, path: str, code: str, reason: str) -> None:
        self.withheld.setdefault(path, PathNote(path, reason, code))

    def _report(self, what: str, done: int, total: int) -> None:
        if self.progress is not None and done % 64 == 0:
            self.progress(what, done, total)


def _explained(error: OSError) -> tuple[str, str]:
    if error.errno in _NO_ROOM:
        return "apply.no_room", "the disk has no room"
    if error.errno in _NO_PERMISSION:
        return "apply.no_permission", "you have no permission to write there"
    if error.errno == errno.ENOTEMPTY:
        return "apply.not_empty", "files that the program was not given are still in it"
    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENOENT}:
        return "apply.conflict", "its folder was removed or replaced meanwhile"
    return "apply.failed", f"the system says: {error.strerror or type(error).__name__}"


def _split(path: str) -> tuple[tuple[str, ...], str]:
    *folder, name = path.split("/")
    return tuple(folder), name


def _parents_of(paths: Collection[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        parts = path.split("/")
        found.update("/".join(parts[:count]) for count in range(1, len(parts)))
    return found


def _retyped(todo: list[Planned]) -> frozenset[str]:
    """Paths that are both deleted and created: a file becomes a folder or the reverse."""
    deleted = {item.change.path for item in todo if item.change.kind is ChangeKind.DELETED}
    return frozenset(
        item.change.path
        for item in todo
        if item.change.kind is ChangeKind.CREATED and item.change.path in deleted
    )


def _moved(planned: Sequence[Planned], late: set[str]) -> dict[str, str]:
    """Where the content of renamed files is, but for what is written last."""
    return {
        item.after.staged_as: item.change.path
        for item in planned
        if item.after is not None
        and item.after.staged_as not in {None, item.change.path}
        and item.change.path not in late
    }


def _is_under(path: str, roots: frozenset[str]) -> bool:
    if not roots:
        return False
    parts = path.split("/")
    return any("/".join(parts[:count]) in roots for count in range(1, len(parts) + 1))
