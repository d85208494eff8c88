"""asyncio's event loop where no socket, thread or signal exists: timers and callbacks.

``run_in_executor`` (and so ``asyncio.to_thread``) calls the function at once, on the spot.
What needs the network or a process fails with a sentence instead of NotImplementedError.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import base_events, events
from collections.abc import Callable
from typing import Any

from _nova_guest.standins import _network, _process

_DEADLOCK = (
    "the event loop would wait for ever: no timer is set, and nothing else can wake it "
    "(no sockets, threads or signals in the WASM runtime)"
)


class _Timers:
    """Stands where BaseEventLoop expects a selector: waiting is only sleeping."""

    def select(self, timeout: float | None) -> tuple[()]:
        if timeout is None:
            raise RuntimeError(_DEADLOCK)
        if timeout > 0:
            time.sleep(timeout)
        return ()

    def close(self) -> None:
        """There is nothing to close."""


class TimerEventLoop(base_events.BaseEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._selector = _Timers()

    def _process_events(self, event_list: object) -> None:
        """Timers produce no events."""

    def _write_to_self(self) -> None:
        """The loop never waits while somebody else could call it."""

    def run_in_executor(
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        self._check_closed()
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            # asyncio forbids StopIteration in a future; a thread pool's future has the same rule.
            if isinstance(error, StopIteration):
                error = RuntimeError("a function run in an executor raised StopIteration")
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        self._executor_shutdown_called = True


for _name in (
    "add_reader remove_reader add_writer remove_writer getaddrinfo getnameinfo "
    "create_connection create_server create_datagram_endpoint create_unix_connection "
    "create_unix_server connect_accepted_socket sendfile start_tls sock_recv sock_recv_into "
    "sock_recvfrom sock_recvfrom_into sock_sendall sock_sendto sock_connect sock_accept "
    "sock_sendfile"
).split():
    setattr(TimerEventLoop, _name, lambda self, *args, **options: _network())
for _name in ("subprocess_exec", "subprocess_shell", "connect_read_pipe", "connect_write_pipe"):
    setattr(TimerEventLoop, _name, lambda self, *args, **options: _process())


class TimerEventLoopPolicy(events.BaseDefaultEventLoopPolicy):
    _loop_factory = TimerEventLoop


def install() -> None:
    """Makes this the loop that every way of asking asyncio for one gives."""
    for name in ("SelectorEventLoop", "EventLoop"):
        setattr(asyncio, name, TimerEventLoop)
    asyncio.DefaultEventLoopPolicy = TimerEventLoopPolicy
    asyncio.set_event_loop_policy(TimerEventLoopPolicy())
