"""One way to ask a run to stop, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancellation:
    """A request to stop that can be waited for and listened to.

    It can be set once and never unset. Thread-safe.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        # Reentrant: Ctrl-C is handled on the main thread, in the middle of whatever it does, and
        # calls request() there.
        self._lock = threading.RLock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self) -> None:
        """Ask everyone who shares this object to stop. Callbacks run on this thread."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def wait(self, seconds: float | None) -> bool:
        """Wait until requested or until the time is over; True when requested."""
        return self._event.wait(seconds)

    def on_request(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once when requested (at once if it already is).

        Returns a function that takes the callback back.
        """
        with self._lock:
            self._callbacks.append(callback)
        # Looked at only now that it is on the list: a request may come between any two steps.
        if self._event.is_set() and self._take(callback):
            callback()

        def forget() -> None:
            self._take(callback)

        return forget

    def _take(self, callback: Callable[[], None]) -> bool:
        """Take it off the list; False when it is not there any more."""
        with self._lock:
            if callback not in self._callbacks:
                return False
            self._callbacks.remove(callback)
            return True
