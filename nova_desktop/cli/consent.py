"""The owner's word on a change plan: given beforehand, asked for, or not given."""

from __future__ import annotations

import enum
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nova_desktop.cli import terminal
from nova_desktop.cli.foreign_text import escape_line
from nova_desktop.cli.summary import change_lines, count_in_words, note_lines
from nova_desktop.model import FileChange, PathNote

if TYPE_CHECKING:
    from nova_desktop.execute.plan import ChangePlan

ALLOW = "allow"


class Write(enum.StrEnum):
    """What to do with the changes that the program made to its copy of the folder."""

    ASK = "ask"
    YES = "yes"
    NO = "no"


class Consent:
    """Answers the engine's question "may this be written?", once, after the program is over."""

    def __init__(
        self,
        write: Write,
        place: str,
        *,
        can_ask: bool,
        before_asking: Callable[[], None] = lambda: None,
    ) -> None:
        self._write = write
        self._place = place
        self._can_ask = can_ask
        self._before_asking = before_asking
        self.asked = False
        """A question has shown the plan."""
        self.wanted: frozenset[str] = frozenset()
        """Paths whose change the owner allowed."""

    @property
    def may_write(self) -> bool:
        return self._write is Write.YES or (self._write is Write.ASK and self._can_ask)

    @property
    def how_to_write(self) -> str:
        """What to type next time, when nothing was written for want of an answer."""
        if self.asked or self._write is Write.NO:
            return ""
        if self._write is Write.YES and self._place:
            return "what must be named is only written where somebody can be asked: --write ask"
        if not self._place:
            return "the program had no folder of yours; name one with --work DIR"
        return "nobody can be asked here; add --write yes to write the changes"

    def __call__(self, plan: ChangePlan) -> bool | Collection[str]:
        impossible = {note.path for note in plan.withheld}
        possible = [change for change in plan.changes if change.path not in impossible]
        named = {note.path for note in plan.needs_naming}
        plain = [change for change in possible if change.path not in named]
        if not possible:
            return ()
        if self._write is Write.YES:
            # The engine still withholds what other programs would run or obey: "yes" was typed
            # before anybody knew of it.
            self.wanted = frozenset(change.path for change in possible)
            return True
        self._before_asking()
        self.asked = True
        sensitive = [change for change in possible if change.path in named]
        reasons = [note for note in plan.needs_naming if note.path not in impossible]
        with _interrupt_raises():
            try:
                self.wanted = frozenset(self._ask(plain, sensitive, reasons))
            except KeyboardInterrupt:  # Ctrl-C at any moment of the asking is no to all of it
                sys.stderr.write("\n")
        return self.wanted

    def _ask(
        self,
        plain: Sequence[FileChange],
        sensitive: Sequence[FileChange],
        reasons: Sequence[PathNote],
    ) -> Iterator[str]:
        place = escape_line(self._place)
        if plain:
            _show(f"The program wants to change {place}", plain)
            if _answer_is_yes("to write these changes"):
                yield from (change.path for change in plain)
        if sensitive:
            also = "also " if plain else ""
            title = f"The program {also}wants to change what other programs run or obey in {place}"
            _show(title, sensitive, reasons)
            if _answer_is_yes("to write these" + (" as well" if plain else "")):
                yield from (change.path for change in sensitive)


def _show(title: str, changes: Sequence[FileChange], reasons: Sequence[PathNote] = ()) -> None:
    style = terminal.Style(sys.stderr)
    lines = [f"{style.strong(title)}: {count_in_words(changes)}", *change_lines(changes, style)]
    lines += note_lines(reasons)
    # A blank line apart from what the program wrote.
    sys.stderr.write("\n" + "\n".join(lines) + "\n")
    sys.stderr.flush()


def _answer_is_yes(purpose: str) -> bool:
    """Wait for the word ``allow``; any other answer is no.

    What was typed before the question stood there is dropped: a program could print a false
    question, have it answered, and leave the answer for the real one.
    """
    terminal.drop_typed_ahead()
    style = terminal.Style(sys.stderr)
    sys.stderr.write(
        f"Type {style.strong(ALLOW)} {purpose}, anything else to leave the folder as it is: "
    )
    sys.stderr.flush()
    try:
        answer = sys.stdin.readline()
    except UnicodeDecodeError:
        answer = ""
    if not answer.endswith("\n"):  # Ctrl-D: our next words begin on a new line
        sys.stderr.write("\n")
    return answer.strip() == ALLOW


@contextmanager
def _interrupt_raises() -> Iterator[None]:
    """Let Ctrl-C end the wait for an answer, where it otherwise asks the run to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
