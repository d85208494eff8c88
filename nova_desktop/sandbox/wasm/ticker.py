"""The clock of an engine: moves its epoch while guests run, and rests otherwise."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LINGER_S = 1.0
"""How long ticks go on after the last run: waking the thread for each of many short runs would
cost each of them more than the ticks do."""


class Ticker:
    """Calls ``tick`` every ``period_s`` seconds from a thread of its own, while runs live."""

    def __init__(self, tick: Callable[[], None], period_s: float) -> None:
        self._tick = tick
        self._period_s = period_s
        self._changed = threading.Condition(threading.Lock())
        self._live = 0
        self._rests = True
        self._idle_since = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def rests(self) -> bool:
        """True while no tick happens."""
        return self._rests

    @contextmanager
    def running(self) -> Iterator[None]:
        """A run lives within."""
        with self._changed:
            self._live += 1
            if self._rests:
                self._wake()
        try:
            yield
        finally:
            with self._changed:
                self._live -= 1
                if not self._live:
                    self._idle_since = time.monotonic()

    def _wake(self) -> None:
        self._rests = False
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="nova-ticker", daemon=True)
            self._thread.start()
        else:
            self._changed.notify()

    def _loop(self) -> None:
        while True:
            time.sleep(self._period_s)
            if not self._live:
                self._rest_if_idle()
            if self._closed:
                return
            self._tick()

    def _rest_if_idle(self) -> None:
        with self._changed:
            while not (self._live or self._closed):
                if time.monotonic() < self._idle_since + _LINGER_S:
                    return
                self._rests = True
                self._changed.wait()

    def close(self) -> None:
        """End the thread; no run lives any more, and none follows."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
