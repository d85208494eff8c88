"""``poll_oneoff``: waiting for a time or for a descriptor."""

from __future__ import annotations

import time
from typing import Final

from nova_desktop.sandbox.wasm.errno import Errno, WasiError
from nova_desktop.sandbox.wasm.memfs_nodes import RegularFile
from nova_desktop.sandbox.wasm.wasi_abi import (
    EVENT,
    EVENT_HANGUP,
    RIGHT_FD_READ,
    RIGHT_FD_WRITE,
    RIGHT_POLL_FD_READWRITE,
    SUBCLOCK_ABSTIME,
    SUBSCRIPTION,
    ClockId,
    EventType,
)
from nova_desktop.sandbox.wasm.wasi_descriptors import InputStream
from nova_desktop.sandbox.wasm.wasi_state import (
    MAX_VECTORS,
    WasiState,
    answers_errno,
)

_LONGEST_SLEEP_S: Final = 3600.0
"""A guest may ask for 584 years, which is more than the host's wait takes as an argument."""


class PollCalls(WasiState):
    __slots__ = ()

    @answers_errno
    def poll_oneoff(self, in_ptr: int, out_ptr: int, count: int, nevents_ptr: int) -> None:
        """Reports what is ready, or sleeps until the first clock is due and reports all that
        are due then. Every descriptor is always ready, so only clocks wait.

        Raises:
            RunEnded: the run's deadline came first, or somebody stopped it.
        """
        if not 0 < count <= MAX_VECTORS:
            raise WasiError(Errno.INVAL)
        subscriptions = self.memory.read(in_ptr, SUBSCRIPTION.size * count)
        self.check_range(out_ptr, EVENT.size * count)
        self.check_range(nevents_ptr, 4)
        now_ns = time.monotonic_ns()
        due_ns: list[int] = []
        """When each subscription is ready, on the host's monotonic clock; 0 is at once."""
        answers: list[bytes] = []
        for userdata, kind, subject, timeout, _precision, flags in SUBSCRIPTION.iter_unpack(
            subscriptions
        ):
            due, errno, ready_bytes, event_flags = 0, Errno.SUCCESS, 0, 0
            try:
                if kind == EventType.CLOCK:
                    due = now_ns + self._wait_ns(subject, timeout, flags)
                else:
                    ready_bytes, event_flags = self._ready(kind, subject)
            except WasiError as error:
                errno = error.errno
            due_ns.append(due)
            answers.append(EVENT.pack(userdata, errno, kind, ready_bytes, event_flags))
        first_ns = min(due_ns)
        while first_ns > now_ns:
            self.control.sleep(min((first_ns - now_ns) / 1e9, _LONGEST_SLEEP_S))
            now_ns = time.monotonic_ns()
        events = [answer for due, answer in zip(due_ns, answers, strict=True) if due <= now_ns]
        self.memory.write(out_ptr, b"".join(events))
        self.memory.write_u32(nevents_ptr, len(events))

    def _wait_ns(self, clock_id: int, timeout: int, flags: int) -> int:
        """Time until a clock subscription is due.

        Raises:
            WasiError: INVAL for an unknown clock or flag; NOTSUP for CPU time, which does not
                pass while the guest sleeps.
        """
        if flags & ~SUBCLOCK_ABSTIME:
            raise WasiError(Errno.INVAL)
        if clock_id in (ClockId.PROCESS_CPUTIME_ID, ClockId.THREAD_CPUTIME_ID):
            raise WasiError(Errno.NOTSUP)
        now_ns = self.clock.now(clock_id)
        return max(0, timeout - now_ns) if flags & SUBCLOCK_ABSTIME else timeout

    def _ready(self, kind: int, fd: int) -> tuple[int, int]:
        """Bytes that a read would get at least, and event flags.

        Raises:
            WasiError: BADF, NOTCAPABLE; INVAL for an unknown event type.
        """
        if kind == EventType.FD_WRITE:
            self.descriptors.get(fd, RIGHT_FD_WRITE | RIGHT_POLL_FD_READWRITE)
            return 0, 0
        if kind != EventType.FD_READ:
            raise WasiError(Errno.INVAL)
        descriptor = self.descriptors.get(fd, RIGHT_FD_READ | RIGHT_POLL_FD_READWRITE)
        node = descriptor.node
        if isinstance(node, InputStream):
            left = node.left(descriptor.offset)
            return left, 0 if left else EVENT_HANGUP
        if isinstance(node, RegularFile):
            return max(0, node.size - descriptor.offset), 0
        return 0, 0
