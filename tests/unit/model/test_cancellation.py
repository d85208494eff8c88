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
