"""What the guest tried and the sandbox refused by design, kept within fixed bounds."""

from __future__ import annotations

from nova_desktop.model import Denied

RULE_LINKS = "wasi.links"
"""Links are never made: whoever reads ``/work`` later would follow them."""
RULE_SOCKETS = "wasi.sockets"
"""A guest has no network but what the broker gives it."""
RULE_SIGNALS = "wasi.signals"
RULE_READ_ONLY = "wasi.read_only"
"""Only ``/work`` and ``/tmp`` can be written."""
RULE_ESCAPE = "wasi.path_escape"
"""A path that leads above the directory it starts from."""

MAX_ENTRIES = 100
MAX_TARGET_CHARACTERS = 256


class DeniedLog:
    """The first 100 distinct refusals of a run, each with its count.

    A guest can refuse itself millions of times with distinct targets, so everything is bounded:
    the number of entries, the length of a target, and the work of one ``record``.
    """

    __slots__ = ("_counts", "unlisted")

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self.unlisted = 0
        """Refusals that are not among the listed ones."""

    def record(self, operation: str, target: bytes | str, rule: str) -> None:
        """``operation`` and ``rule`` are our own words; ``target`` is the guest's."""
        if isinstance(target, bytes):
            # No character is longer than 4 bytes, so this cuts nothing that would be kept.
            target = target[: 4 * MAX_TARGET_CHARACTERS].decode("utf-8", "backslashreplace")
        key = (operation, target[:MAX_TARGET_CHARACTERS], rule)
        if key in self._counts:
            self._counts[key] += 1
        elif len(self._counts) < MAX_ENTRIES:
            self._counts[key] = 1
        else:
            self.unlisted += 1

    def entries(self) -> tuple[Denied, ...]:
        """In the order in which each was first refused."""
        return tuple(
            Denied(operation, _shown(target), rule, count)
            for (operation, target, rule), count in self._counts.items()
        )


def _shown(target: str) -> str:
    """The target as one line that no terminal obeys, at most 256 characters.

    ``str.isprintable`` is false for control and format characters (escape sequences, bidi
    overrides), for line separators and for lone surrogates; ``repr`` escapes exactly these.
    """
    if target.isprintable():
        return target
    return repr(target)[1:-1][:MAX_TARGET_CHARACTERS]
