"""What a program writes to its standard streams: streamed on, and kept within bounds."""

from __future__ import annotations

from nova_desktop.model import Limits, OutputCallback, Status, Stream
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import RunEnded

_RESERVED_BYTES = 32 << 10
"""Room of each stream that is charged before the program starts: the traceback of a
MemoryError is kept although the budget is used up."""

_STEP_BYTES = 64 << 10
"""Room is charged in such steps, not once per line."""


class StreamBuffer:
    """The head and the tail of one stream; what lies between is counted and dropped.

    Holds ``limit`` bytes at most, half of them head. When the budget has no more room, it
    keeps to the room it has: the tail rolls on, the run does not end for it.
    """

    def __init__(self, limit: int, budget: MemoryBudget) -> None:
        self._limit = limit
        self._budget = budget
        self._head = bytearray()
        self._tail = bytearray()
        self._head_full = False
        self._charged = min(limit, _RESERVED_BYTES)
        budget.charge(self._charged)
        self._tail_room = self._charged - self._charged // 2
        self._head_room = self._charged // 2
        self.written = 0

    def write(self, data: bytes) -> None:
        self.written += len(data)
        start = 0
        if not self._head_full:
            start = self._write_head(data)
        if start < len(data):
            self._write_tail(data[start:] if start else data)

    def _write_head(self, data: bytes) -> int:
        wanted = len(self._head) + len(data)
        most = self._limit // 2
        if wanted > self._head_room and self._head_room < most:
            self._head_room += self._grow(
                min(wanted, most) - self._head_room, most - self._head_room
            )
        taken = data[: self._head_room - len(self._head)]
        self._head += taken
        self._head_full = len(taken) < len(data) or len(self._head) == most
        return len(taken)

    def _write_tail(self, data: bytes) -> None:
        wanted = len(self._tail) + len(data)
        most = self._limit - self._limit // 2
        if wanted > self._tail_room and self._tail_room < most:
            self._tail_room += self._grow(
                min(wanted, most) - self._tail_room, most - self._tail_room
            )
        if len(data) >= self._tail_room:
            self._tail[:] = data[len(data) - self._tail_room :]
            return
        surplus = wanted - self._tail_room
        if surplus > 0:
            del self._tail[:surplus]
        self._tail += data

    def _grow(self, least: int, most: int) -> int:
        size = min(max(least, _STEP_BYTES), most)
        try:
            self._budget.charge(size)
        except BudgetExceeded:
            return 0
        self._charged += size
        return size

    @property
    def dropped(self) -> int:
        return self.written - len(self._head) - len(self._tail)

    def content(self) -> bytes:
        return bytes(self._head + self._tail)

    def close(self) -> None:
        """Give the room back."""
        self._budget.release(self._charged)
        self._charged = 0


class OutputCapture:
    """Both streams of one run."""

    def __init__(
        self, limits: Limits, budget: MemoryBudget, on_output: OutputCallback | None
    ) -> None:
        self.stdout = StreamBuffer(limits.output_bytes, budget)
        try:
            self.stderr = StreamBuffer(limits.output_bytes, budget)
        except BudgetExceeded:
            self.stdout.close()
            raise
        self._total_limit = limits.output_total_bytes
        self._left = limits.output_total_bytes
        self._on_output = on_output

    def write(self, stream: Stream, data: bytes) -> None:
        """Take what the guest wrote.

        Raises:
            RunEnded: the run wrote more than ``output_total_bytes``; what fits is kept.
        """
        kept = data if len(data) <= self._left else data[: self._left]
        self._left -= len(kept)
        (self.stdout if stream is Stream.STDOUT else self.stderr).write(kept)
        if self._on_output is not None and kept:
            self._on_output(stream, kept)
        if len(kept) < len(data):
            raise RunEnded(
                Status.LIMIT,
                "run.output_limit",
                f"The program wrote more than its limit of {self._total_limit} bytes of output.",
            )

    def close(self) -> None:
        self.stdout.close()
        self.stderr.close()
