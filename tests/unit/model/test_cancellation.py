from __future__ import annotations

import threading
import time

from nova_desktop.model import Cancellation


def test_it_starts_unrequested_and_stays_requested() -> None:
    cancellation = Cancellation()
    assert not cancellation.requested
    cancellation.request()
    cancellation.request()
    assert cancellation.requested


def test_waiting_ends_when_another_thread_requests() -> None:
    cancellation = Cancellation()
    threading.Timer(0.05, cancellation.request).start()
    begun = time.monotonic()
    assert cancellation.wait(10)
    assert time.monotonic() - begun < 5


def test_waiting_ends_when_the_time_is_over() -> None:
    assert not Cancellation().wait(0.01)


def test_a_callback_is_called_once() -> None:
    cancellation = Cancellation()
    calls: list[int] = []
    cancellation.on_request(lambda: calls.append(1))
    assert calls == []
    cancellation.request()
    cancellation.request()
    assert calls == [1]


def test_a_callback_that_comes_late_is_called_at_once() -> None:
    cancellation = Cancellation()
    cancellation.request()
    calls: list[int] = []
    forget = cancellation.on_request(lambda: calls.append(1))
    assert calls == [1]
    forget()


def test_a_callback_can_be_taken_back() -> None:
    cancellation = Cancellation()
    calls: list[str] = []
    forget = cancellation.on_request(lambda: calls.append("taken back"))
    cancellation.on_request(lambda: calls.append("kept"))
    forget()
    forget()
    cancellation.request()
    assert calls == ["kept"]


def test_a_callback_may_use_the_object_itself() -> None:
    """Callbacks run outside its lock."""
    cancellation = Cancellation()
    seen: list[bool] = []
    cancellation.on_request(lambda: cancellation.on_request(lambda: seen.append(True))())
    cancellation.request()
    assert seen == [True]


def test_no_callback_is_lost_between_threads() -> None:
    """Whoever registers while another thread requests is called: before or after, not never."""
    for _ in range(200):
        cancellation = Cancellation()
        calls: list[int] = []
        requester = threading.Thread(target=cancellation.request)
        requester.start()
        cancellation.on_request(lambda calls=calls: calls.append(1))  # type: ignore[misc]
        requester.join()
        assert calls == [1]


class _Interrupted:
    """The lock of a cancellation, on a thread that Ctrl-C interrupts once it has it."""

    def __init__(self, cancellation: Cancellation) -> None:
        self._lock = cancellation._lock
        self._cancellation: Cancellation | None = cancellation

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._cancellation is not None:
            cancellation, self._cancellation = self._cancellation, None
            cancellation.request()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_a_request_in_the_middle_of_listening_is_neither_a_deadlock_nor_lost() -> None:
    """As a signal handler does it, on the thread that holds the lock."""
    cancellation = Cancellation()
    calls: list[int] = []

    def listen() -> None:
        cancellation._lock = _Interrupted(cancellation)  # type: ignore[assignment]
        forget = cancellation.on_request(lambda: calls.append(1))
        forget()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
    assert calls == [1]
