"""One memory budget for everything a run makes the host hold."""

from __future__ import annotations

from collections.abc import Callable

from nova_desktop.sandbox.wasm.host_heap import GIVE_BACK_EVERY_BYTES, give_back


class BudgetExceeded(Exception):
    """A charge was refused; nothing was charged."""


class MemoryBudget:
    """Bounds the sum of guest memory, files, buffered output and frames, in bytes.

    ``guest_bytes`` tells the present size of the guest's linear memory; ``on_change`` is told
    the room that is left for it after each charge, so that the store's limit follows.
    """

    __slots__ = ("_freed", "_guest_bytes", "_on_change", "charged", "exceeded", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.charged = 0
        """Bytes held outside the guest's memory."""
        self.exceeded = False
        """True once any charge was refused."""
        self._freed = 0
        self._guest_bytes: Callable[[], int] = lambda: 0
        self._on_change: Callable[[int], None] = lambda _room: None

    def attach_guest(
        self, guest_bytes: Callable[[], int], on_change: Callable[[int], None]
    ) -> None:
        self._guest_bytes = guest_bytes
        self._on_change = on_change
        on_change(self.total - self.charged)

    def charge(self, size: int) -> None:
        """Raises:
        BudgetExceeded: the sum would pass the total.
        """
        if self.charged + size + self._guest_bytes() > self.total:
            self.exceeded = True
            raise BudgetExceeded(f"{size} bytes more than the run's memory budget allows")
        self.charged += size
        self._on_change(self.total - self.charged)

    def release(self, size: int) -> None:
        """Take back a charge; what it was for is freed by now."""
        self.charged -= size
        self.freed(size)
        self._on_change(self.total - self.charged)

    def freed(self, size: int) -> None:
        """So many bytes went back to the allocator, which must not sit on them."""
        self._freed += size
        if self._freed >= GIVE_BACK_EVERY_BYTES:
            self._freed = 0
            give_back()
