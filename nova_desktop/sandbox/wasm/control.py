"""The clock and the stop button of one run, as the host functions see them."""

from __future__ import annotations

import time

from nova_desktop.model import Cancellation, Status


class RunEnded(Exception):
    """Raised inside a host call to end the run at once; the trampoline turns it into a trap."""

    def __init__(self, status: Status, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class GuestExit(Exception):
    """The guest called ``proc_exit``."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class RunControl:
    """Deadline and cancellation of one run.

    Epoch interruption stops guest code; it does not fire inside a host call, so each host
    call that waits or loops asks here.
    """

    __slots__ = ("cancellation", "deadline", "timeout_s")

    def __init__(self, timeout_s: float, cancellation: Cancellation) -> None:
        self.timeout_s = timeout_s
        self.cancellation = cancellation
        self.deadline = float("inf")

    def start(self) -> None:
        """Start the clock: called when the run leaves the queue."""
        self.deadline = time.monotonic() + self.timeout_s

    def left(self) -> float:
        """Seconds until the deadline, negative after it."""
        return self.deadline - time.monotonic()

    def over(self) -> bool:
        return self.cancellation.requested or time.monotonic() >= self.deadline

    def check(self) -> None:
        """Raises:
        RunEnded: the owner stopped the run, or its time is over.
        """
        if self.cancellation.requested:
            raise RunEnded(Status.STOPPED, "run.stopped", "The run was stopped.")
        if time.monotonic() >= self.deadline:
            raise RunEnded(
                Status.TIMED_OUT,
                "run.timed_out",
                f"The program was still running after its limit of {self.timeout_s:g} s.",
            )

    def sleep(self, seconds: float) -> None:
        """Wait, but never past the deadline or a request to stop (``RunEnded`` then)."""
        self.check()
        self.cancellation.wait(max(0.0, min(seconds, self.left())))
        self.check()
