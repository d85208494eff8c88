"""The change plan: what a run would change in the workspace. A pure comparison; nothing acts.

Compared is what the guest was given with what it left. A path is deleted only when the guest
deleted it: what was not staged cannot be missing. A rename is a deletion and a creation. A file
that was written again with the same bytes is no change.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nova_desktop.execute.media import media_type
from nova_desktop.execute.runs_outside import obeyed_place, runs_outside
from nova_desktop.execute.text import printable
from nova_desktop.execute.workspace import MAX_PATH_BYTES, Staged
from nova_desktop.hostfs import (
    NameRules,
    NotARegularFile,
    StillChanging,
    TooLarge,
    collision_key,
    name_problem,
)
from nova_desktop.model import ChangeKind, ErrorInfo, FileChange, PathNote
from nova_desktop.sandbox.runtime import WorkEntry
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget

_EXECUTE_BITS = 0o111

_SEEN_BYTES = 256
_PLANNED_BYTES = 512
"""What comparing an entry makes us hold, besides its path twice: while comparing, and as long
as the plan lives."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One change with what is needed to carry it out."""

    change: FileChange
    before: Staged | None
    after: WorkEntry | None
    runs_outside_reason: str = ""

    @property
    def only_mode_changes(self) -> bool:
        return (
            self.change.kind is ChangeKind.MODIFIED
            and self.before is not None
            and self.before.sha256 == self.change.sha256
        )


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """What the owner is asked about. ``changes`` and ``withheld`` can be shown as they are."""

    planned: tuple[Planned, ...] = ()
    withheld: tuple[PathNote, ...] = ()
    """Changes that cannot be written here whatever the owner says, each with its reason."""
    error: ErrorInfo | None = None
    """Set when there is no plan, for a reason that concerns all of it."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return tuple(planned.change for planned in self.planned)

    @property
    def needs_naming(self) -> tuple[PathNote, ...]:
        """Changes that are only written when the owner names their paths."""
        return tuple(
            PathNote(item.change.path, item.runs_outside_reason, "apply.runs_outside")
            for item in self.planned
            if item.runs_outside_reason
        )

    def read(self, path: str) -> bytes:
        """The new content of a created or modified file.

        Raises:
            KeyError: the plan has no new content for this path.
        """
        for item in self.planned:
            if item.change.path == path and item.after is not None and item.change.sha256:
                return b"".join(item.after.chunks())
        raise KeyError(path)


def make_plan(
    staged: Mapping[str, Staged],
    entries: Iterable[WorkEntry],
    *,
    left_out: Sequence[PathNote] = (),
    only: str | None = None,
    rules: NameRules = NameRules.POSIX,
    most_bytes: int,
    budget: MemoryBudget | None = None,
    place: Sequence[str] = (),
) -> ChangePlan:
    """Compare what was staged with what the guest left.

    ``left_out``: paths that exist on the host unseen. ``only``: the one file that was given.
    ``rules``: whose names can be held where the plan will be written. ``most_bytes``: bytes of
    new content at most, together; only files with holes can pass the run's memory budget, and
    a hole of a terabyte costs its maker nothing. ``budget``: the run's, which the plan is charged
    to; a guest can nest folders so that each of its many files has a path of kilobytes.
    ``place``: parts of the workspace's own path, which may be a folder that others obey.
    """
    charge = (budget or MemoryBudget(sys.maxsize)).charge
    try:
        plan = _make_plan(staged, entries, left_out, only, rules, most_bytes, charge)
    except BudgetExceeded:
        return ChangePlan(error=_too_many())
    except (OSError, RecursionError) as error:
        # Files that lie on a disk, and a folder that cannot be listed: what is in it must not
        # count as deleted.
        return ChangePlan(error=_not_comparable(error))
    reason = obeyed_place(place)
    return _all_marked(plan, reason) if reason else plan


def _all_marked(plan: ChangePlan, reason: str) -> ChangePlan:
    marked = (
        dataclasses.replace(
            item,
            change=dataclasses.replace(item.change, runs_outside=True),
            runs_outside_reason=item.runs_outside_reason or reason,
        )
        for item in plan.planned
    )
    return dataclasses.replace(plan, planned=tuple(marked))


def _not_comparable(error: OSError | RecursionError) -> ErrorInfo:
    reason = getattr(error, "strerror", "") or type(error).__name__
    return ErrorInfo(
        "apply.not_comparable",
        f"What the program left cannot be read ({reason}); none of its changes are kept.",
        "Let the program leave folders that can be read.",
    )


def _too_many() -> ErrorInfo:
    return ErrorInfo(
        "apply.too_many",
        "The program left more names than the run's memory limit leaves room to compare; none of"
        " its changes are kept.",
        "Let it make fewer files or shorter names, or raise the limit with --memory.",
    )


def _make_plan(
    staged: Mapping[str, Staged],
    entries: Iterable[WorkEntry],
    left_out: Sequence[PathNote],
    only: str | None,
    rules: NameRules,
    most_bytes: int,
    charge: Callable[[int], None],
) -> ChangePlan:
    planned: list[Planned] = []
    impossible: list[PathNote] = []
    kept: set[str] = set()
    seen: set[str] = set()
    for entry in entries:
        charge(_SEEN_BYTES + 2 * sys.getsizeof(entry.path))
        if printable(entry.path) != entry.path:
            impossible.append(
                PathNote(printable(entry.path), "its name is not valid Unicode", "name.not_unicode")
            )
            continue
        seen.add(entry.path)
        before = staged.get(entry.path)
        if before is not None and before.is_directory != entry.is_directory:
            planned.append(_deleted(entry.path, before))
            before = None
        if entry.content_changed and not entry.is_directory:
            most_bytes -= entry.size
        if most_bytes < 0:
            most_bytes += entry.size
            reason = f"its {entry.size:,} bytes are more than the run's memory limit"
            impossible.append(PathNote(entry.path, reason, "apply.too_large"))
        else:
            try:
                found = _compared(entry, before, staged)
            except (OSError, NotARegularFile, StillChanging, TooLarge):
                impossible.append(PathNote(entry.path, "it cannot be read", "apply.unreadable"))
                found = None
            if found is not None:
                charge(_PLANNED_BYTES)
                planned.append(found)
        if before is not None:
            kept.add(entry.path)
    for path, before in staged.items():
        if path not in seen:
            charge(_PLANNED_BYTES)
            planned.append(_deleted(path, before))
    planned.sort(key=lambda item: (item.change.path, item.change.kind is ChangeKind.CREATED))
    occupied = kept | {note.path for note in left_out}
    withheld = impossible + _impossible(planned, occupied, only, rules)
    return ChangePlan(tuple(planned), tuple(sorted(withheld, key=lambda note: note.path)))


def _compared(
    entry: WorkEntry, before: Staged | None, staged: Mapping[str, Staged]
) -> Planned | None:
    path = entry.path
    if entry.is_directory:
        if before is not None:
            return None
        reason = runs_outside(path)
        return Planned(
            FileChange(
                path=path,
                kind=ChangeKind.CREATED,
                is_directory=True,
                runs_outside=bool(reason),
            ),
            None,
            entry,
            reason,
        )
    untouched = None if entry.content_changed else staged.get(entry.staged_as or "")
    sha256 = untouched.sha256 if untouched is not None else _sha256(entry.chunks())
    mode = entry.mode & 0o777
    mode_before = None if before is None else before.permissions
    if before is not None and before.sha256 == sha256 and mode == mode_before:
        return None
    new_execute_bit = bool(mode & _EXECUTE_BITS) and not (mode_before or 0) & _EXECUTE_BITS
    reason = runs_outside(path, new_execute_bit=new_execute_bit)
    change = FileChange(
        path=path,
        kind=ChangeKind.CREATED if before is None else ChangeKind.MODIFIED,
        size=entry.size,
        size_before=0 if before is None else before.size,
        sha256=sha256,
        media_type=media_type(path),
        mode=None if mode == mode_before else mode,
        runs_outside=bool(reason),
    )
    return Planned(change, before, entry, reason)


def _deleted(path: str, before: Staged) -> Planned:
    reason = runs_outside(path)
    change = FileChange(
        path=path,
        kind=ChangeKind.DELETED,
        is_directory=before.is_directory,
        size_before=before.size,
        runs_outside=bool(reason),
    )
    return Planned(change, before, None, reason)


def _impossible(
    planned: Sequence[Planned], occupied: set[str], only: str | None, rules: NameRules
) -> list[PathNote]:
    """Why some creations cannot be written here: names, collisions, not given.

    ``planned`` is sorted, so a folder comes before what is in it.
    """
    notes: dict[str, PathNote] = {}
    collision_path = _collision_paths()
    taken = {collision_path(path): path for path in sorted(occupied)}
    for item in planned:
        path = item.change.path
        if item.change.kind is not ChangeKind.CREATED:
            continue
        folder, _, name = path.rpartition("/")
        if folder in notes:
            notes[path] = PathNote(path, "its folder is not written", notes[folder].code)
        elif only is not None and path != only:
            notes[path] = PathNote(
                path, f"only the file {only} was given, not its folder", "apply.not_given"
            )
        elif problem := name_problem(name, rules):
            notes[path] = PathNote(path, problem.reason, problem.code)
        elif len(path) > MAX_PATH_BYTES or len(path.encode()) > MAX_PATH_BYTES:
            reason = f"its path is longer than {MAX_PATH_BYTES} bytes"
            notes[path] = PathNote(path, reason, "name.too_long")
        else:
            other = taken.setdefault(collision_path(path), path)
            if other != path:
                notes[path] = PathNote(
                    path, f"some systems take it for {other}, which exists", "name.collision"
                )
            elif path in occupied:
                notes[path] = PathNote(
                    path, "something that was not staged has that name", "apply.exists"
                )
    return list(notes.values())


def _collision_paths() -> Callable[[str], str]:
    """``collision_key`` of whole paths; what was found for a folder serves all that is in it."""

    @functools.lru_cache(maxsize=128)
    def of_folder(path: str) -> str:
        return of_path(path)

    def of_path(path: str) -> str:
        folder, slash, name = path.rpartition("/")
        return f"{of_folder(folder)}/{collision_key(name)}" if slash else collision_key(name)

    return of_path


def _sha256(chunks: Iterator[bytes | bytearray | memoryview]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()
