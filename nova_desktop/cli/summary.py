"""What a person reads after a run: how it ended, what changed, what was refused. On stderr."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from nova_desktop.cli.foreign_text import escape_line
from nova_desktop.cli.terminal import Style
from nova_desktop.cli.units import size_in_words, time_in_words
from nova_desktop.model import ChangeKind, ErrorInfo, ExecutionResult, FileChange, PathNote, Status

T = TypeVar("T")

FOREIGN = "│ "
"""Begins each line that holds words somebody else chose."""

MAX_LINES = 40
"""Of one list; a run may change 10,000 files, and the JSON has them all."""

RULES_IN_WORDS = {
    "wasi.links": "there are no links here",
    "wasi.sockets": "there is no network here",
    "wasi.signals": "there are no other processes here",
    "wasi.read_only": "only /work and /tmp can be written",
    "wasi.path_escape": "the path leads out of the sandbox",
    "nova.no_capabilities": "a program has nothing to call on the host",
}

_ENDING = {
    Status.FINISHED: "finished",
    Status.FAILED: "the program failed",
    Status.TIMED_OUT: "stopped at its time limit",
    Status.OUT_OF_MEMORY: "ran out of memory",
    Status.LIMIT: "stopped at a limit",
    Status.STOPPED: "stopped by you",
    Status.DENIED: "refused",
    Status.ENGINE_ERROR: "Nova failed",
}


def status_line(result: ExecutionResult, style: Style) -> str:
    good = result.status is Status.FINISHED
    facts = [(style.good if good else style.bad)(_ENDING[result.status])]
    if result.exit_code not in {None, 0}:
        facts.append(f"exit code {result.exit_code}")
    facts.append(time_in_words(result.duration_ms))
    if result.queued_ms >= 10:
        facts.append(f"queued {time_in_words(result.queued_ms)}")
    facts.append(
        f"runtime {result.runtime}"
        if result.sandboxed
        else style.bad(f"runtime {result.runtime}: NOT SANDBOXED")
    )
    return f"{style.strong('nova:')} {', '.join(facts)}"


def error_lines(error: ErrorInfo, style: Style) -> list[str]:
    lines = [f"{style.bad('error')}: {escape_line(error.message)} {style.faint(error.code)}"]
    if error.hint:
        lines.append(_hint_line(error.hint, style))
    if error.remedy:
        lines.append(f"{style.careful('what to do')}: {escape_line(error.remedy)}")
    return lines


def _hint_line(hint: str, style: Style) -> str:
    return f"{style.careful('hint')}: {escape_line(hint)}"


def change_lines(changes: Sequence[FileChange], style: Style) -> list[str]:
    """One line a change: kind, size, path last, so that no odd name can shift a column."""
    paint = {
        ChangeKind.CREATED: style.good,
        ChangeKind.MODIFIED: style.careful,
        ChangeKind.DELETED: style.bad,
    }

    def line(change: FileChange) -> str:
        size = "" if change.is_directory else size_in_words(change.size)
        name = escape_line(change.path) + ("/" if change.is_directory else "")
        note = ""
        if change.kind is ChangeKind.MODIFIED:
            note = style.faint(f"  (was {size_in_words(change.size_before)})")
        elif change.kind is ChangeKind.DELETED:
            size = "" if change.is_directory else size_in_words(change.size_before)
        if change.mode is not None and change.kind is ChangeKind.MODIFIED:
            note += style.faint(f"  (mode {change.mode:04o})")
        if change.runs_outside:
            note += style.bad("  other programs run or obey this")
        return f"{FOREIGN}{paint[change.kind](f'{change.kind:<8}')}  {size:>9}  {name}{note}"

    return _shortened(changes, line)


def note_lines(notes: Sequence[PathNote]) -> list[str]:
    return _shortened(
        notes, lambda note: f"{FOREIGN}{escape_line(note.path)}: {escape_line(note.reason)}"
    )


def count_in_words(changes: Iterable[FileChange]) -> str:
    kinds = [change.kind for change in changes]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ChangeKind if kind in kinds]
    return ", ".join(parts)


def summary(
    result: ExecutionResult,
    *,
    style: Style,
    place: str,
    plan_shown: bool = False,
    how_to_write: str = "",
    hint: str = "",
) -> list[str]:
    """All lines of the report.

    ``place``: the workspace as the owner typed it. ``plan_shown``: a question has just listed
    the changes. ``how_to_write``: what to type to keep changes that were not written.
    ``hint``: what only the command line knows. The engine's own hint is already on stderr,
    after the traceback, which also says all that the error of a failed program would.
    """
    lines = [status_line(result, style)]
    if result.error is not None and result.status is not Status.FAILED:
        lines += error_lines(dataclasses.replace(result.error, hint=hint), style)
    elif hint:
        lines += [_hint_line(hint, style)]
    if result.files and not plan_shown:
        where = f" in {escape_line(place)}" if place else " in /work"
        lines.append(f"changes{where}: {count_in_words(result.files)}")
        lines += change_lines(result.files, style)
    if result.files:
        lines += _written_lines(result, style, how_to_write)
    if result.withheld:
        lines.append(style.careful("not written, each for its own reason:"))
        lines += note_lines(result.withheld)
    if result.left_out:
        lines.append(style.careful("not shown to the program:"))
        lines += note_lines(result.left_out)
    if result.denied:
        lines.append(style.careful("refused by the sandbox:"))
        for denied in result.denied[:MAX_LINES]:
            times = f" ({denied.count} times)" if denied.count > 1 else ""
            target = f" {escape_line(denied.target)}" if denied.target else ""
            why = RULES_IN_WORDS.get(denied.rule, denied.rule)
            lines.append(f"{FOREIGN}{escape_line(denied.operation)}{target}{times}: {why}")
        if (more := len(result.denied) - MAX_LINES) > 0:
            lines.append(f"{FOREIGN}and {more} more")
    return lines


def _written_lines(result: ExecutionResult, style: Style, how_to_write: str) -> list[str]:
    if result.written:
        # Through the plan, since a plan's folders and files are counted alike.
        return [style.good(f"written: {len(result.written)} of {len(result.files)}")]
    line = style.careful("nothing was written")
    return [f"{line}: {how_to_write}" if how_to_write else line]


def _shortened(items: Sequence[T], line: Callable[[T], str]) -> list[str]:
    """Only what is shown is put into words: a plan may name files by the hundred thousand."""
    if len(items) <= MAX_LINES:
        return [line(item) for item in items]
    shown = MAX_LINES - 1
    return [*map(line, items[:shown]), f"{FOREIGN}and {len(items) - shown} more"]
