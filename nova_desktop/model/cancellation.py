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
        self._lock = threading.Lock()
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
            if not self._event.is_set():
                self._callbacks.append(callback)

                def forget() -> None:
                    with self._lock:
                        if callback in self._callbacks:
                            self._callbacks.remove(callback)

                return forget
        callback()
        return lambda: None
