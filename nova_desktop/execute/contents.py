"""What a run wrote, as values: for a caller that gave its files as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nova_desktop.execute.plan import ChangePlan
from nova_desktop.sandbox.runtime import WorkEntry


class LazyContents(Mapping[str, bytes]):
    """Path to new content, put together when it is asked for.

    The guest's files stay in memory as they are until then: copying them all would double
    what a run with full files holds, beyond its budget.
    """

    def __init__(self, plan: ChangePlan) -> None:
        self._entries: dict[str, WorkEntry] = {
            item.change.path: item.after
            for item in plan.planned
            if item.after is not None and not item.change.is_directory
        }

    def __getitem__(self, path: str) -> bytes:
        return b"".join(self._entries[path].chunks())

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
