"""The threads on which guests run: as many as there are cores, with stacks that are checked.

Runs beyond the threads wait in one queue, first come first served. A thread is handed its run
through a lock of its own, the cheapest hand-over that Python has (some 20 µs).
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from nova_desktop.model import MIB, Cancellation, NovaError, RuntimeUnavailable, Status
from nova_desktop.sandbox.wasm.control import RunEnded
from nova_desktop.sandbox.wasm.isolate import WASM_STACK_BYTES

_HOST_STACK_BYTES = 4 * MIB
"""What host functions may need of the stack, below everything a guest may have used."""

THREAD_STACK_BYTES = WASM_STACK_BYTES + _HOST_STACK_BYTES

_IDLE_S = 30.0
"""An idle thread ends after this time: a deep recursion leaves its stack's pages occupied."""

_WAIT_SLICE_S = 0.2
"""On Windows a wait for a lock cannot be interrupted by Ctrl-C; between slices it can."""

R = TypeVar("R")

_stack_size_lock = threading.Lock()


class _GuestThread(threading.local):
    is_one = False


_guest_thread = _GuestThread()


class _Job(Generic[R]):
    """One piece of work and its result, handed from thread to thread."""

    __slots__ = ("_error", "_result", "_work", "done", "submitted_ns")

    def __init__(self, work: Callable[[int], R]) -> None:
        self._work = work
        self._result: R | None = None
        self._error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()
        self.submitted_ns = time.monotonic_ns()

    def run(self) -> None:
        try:
            self._result = self._work(time.monotonic_ns() - self.submitted_ns)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            self._error = error

    def fail(self, error: BaseException) -> None:
        self._error = error

    def result(self) -> R:
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # else the traceback would keep this frame alive, and it us
        return self._result  # type: ignore[return-value]


class _Worker:
    """A thread and what it is to do next."""

    __slots__ = ("job", "thread", "wake")

    def __init__(self) -> None:
        self.job: _Job[object] | None = None
        self.wake = threading.Lock()
        self.wake.acquire()
        self.thread: threading.Thread | None = None


class Scheduler:
    """Runs work on guest threads, in the order in which it came."""

    def __init__(
        self, workers: int | None = None, after_each: Callable[[], None] | None = None
    ) -> None:
        """``after_each`` is called on the thread of each job once its caller has the result."""
        self._after_each = after_each
        self.workers = workers or _cores()
        # Reentrant: the collector may close a forgotten scheduler at any point of this thread.
        self._lock = threading.RLock()
        self._queue: collections.deque[_Job[object]] = collections.deque()
        self._idle: list[_Worker] = []
        self._threads: dict[int, _Worker] = {}
        self._closed = False

    @property
    def queued(self) -> int:
        return len(self._queue)

    @property
    def threads(self) -> int:
        return len(self._threads)

    def execute(
        self,
        work: Callable[[int], R],
        cancellation: Cancellation,
        on_queued: Callable[[int], None] | None = None,
    ) -> R:
        """Do ``work(queued_ns)`` on a guest thread; blocks until it is done.

        ``on_queued`` is told how many are ahead when there is no free thread.

        Raises:
            RunEnded: stopped while it waited in the queue; ``work`` was never begun.
            NovaError: called from a guest thread, where waiting could wait for itself.
            RuntimeUnavailable: closed, no thread to be had, or one with too small a stack.
            BaseException: whatever ``work`` raised.
        """
        self.refuse_guest_threads()
        job: _Job[R] = _Job(work)
        ahead = self._submit(job)
        forget = cancellation.on_request(lambda: self._withdraw(job))
        try:
            if ahead is not None and on_queued is not None:
                on_queued(ahead)
            while not job.done.acquire(timeout=_WAIT_SLICE_S):
                pass
        except BaseException:
            # Ctrl-C: the files and the budget are the caller's, so the run must be over first.
            cancellation.request()
            job.done.acquire()
            raise
        finally:
            forget()
        return job.result()

    @staticmethod
    def refuse_guest_threads() -> None:
        """Raises:
        NovaError: called from a guest thread, where waiting could wait for itself.
        """
        if _guest_thread.is_one:
            raise NovaError(
                "engine.nested_run",
                "A run's callback can neither start another run nor close the engine.",
            )

    def _submit(self, job: _Job[R]) -> int | None:
        """Give the job to a thread, or queue it; the number of jobs ahead if it was queued."""
        with self._lock:
            if self._closed:
                raise RuntimeUnavailable("runtime.closed", "The engine was closed.")
            if self._idle:
                # The one that rested least: its caches are warm, the others may end.
                worker = self._idle.pop()
                worker.job = job  # type: ignore[assignment]
                worker.wake.release()
                return None
            if len(self._threads) < self.workers:
                worker = _Worker()
                worker.job = job  # type: ignore[assignment]
                self._start(worker)
                return None
            self._queue.append(job)  # type: ignore[arg-type]
            return len(self._queue) - 1

    def _start(self, worker: _Worker) -> None:
        """Start a thread with room for a guest; ``stack_size`` is a setting of the process."""
        thread = threading.Thread(
            target=self._serve, args=(worker,), name="nova-guest", daemon=True
        )
        worker.thread = thread
        with _stack_size_lock:
            before = threading.stack_size(THREAD_STACK_BYTES)
            try:
                thread.start()
            except RuntimeError as error:
                raise RuntimeUnavailable(
                    "runtime.no_thread",
                    f"The system gave no further thread: {error}.",
                    "Close other programs, or raise the limit on processes (ulimit -u).",
                ) from error
            finally:
                threading.stack_size(before)
        assert thread.ident is not None  # noqa: S101 - it was started
        self._threads[thread.ident] = worker

    def _withdraw(self, job: _Job[R]) -> None:
        with self._lock:
            try:
                self._queue.remove(job)  # type: ignore[arg-type]
            except ValueError:
                return  # it runs, or it is done
        job.fail(RunEnded(Status.STOPPED, "run.stopped", "The run was stopped before it began."))
        job.done.release()

    def _serve(self, worker: _Worker) -> None:
        _guest_thread.is_one = True
        fault = _stack_fault()
        while (job := worker.job) is not None:
            if fault is None:
                job.run()
            else:
                job.fail(fault)
            job.done.release()
            del job
            if self._after_each is not None:
                self._after_each()
            if self._take_next(worker):
                self._rest(worker)
        with self._lock:
            self._threads.pop(threading.get_ident(), None)

    def _take_next(self, worker: _Worker) -> bool:
        """The worker's next job from the queue, or its place among the idle ones (True)."""
        with self._lock:
            worker.job = self._queue.popleft() if self._queue else None
            if worker.job is not None or self._closed:
                return False
            self._idle.append(worker)
            return True

    def _rest(self, worker: _Worker) -> None:
        """Wait for a job; with none afterwards the thread is to end."""
        if worker.wake.acquire(timeout=_IDLE_S):
            return
        with self._lock:
            if worker in self._idle:
                self._idle.remove(worker)
                return
        worker.wake.acquire()  # it was given a job at the last moment

    def close(self) -> None:
        """Take no more work, wait until what runs is over, end the threads."""
        with self._lock:
            self._closed = True
            waiting, self._queue = self._queue, collections.deque()
            threads = [worker.thread for worker in self._threads.values()]
            while self._idle:
                self._idle.pop().wake.release()
        for job in waiting:
            job.fail(RuntimeUnavailable("runtime.closed", "The engine was closed."))
            job.done.release()
        for thread in threads:
            if thread is not None and thread is not threading.current_thread():
                thread.join()


def _cores() -> int:
    """Cores this process may use."""
    with contextlib.suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))  # absent on Windows and macOS
    return os.cpu_count() or 1


def _stack_fault() -> RuntimeUnavailable | None:
    """Why the calling thread must not enter a guest; None when its stack is large enough.

    On a smaller stack the guest's recursion would run past the end of it and crash the whole
    process instead of ending in a trap. What cannot be measured is not trusted.
    """
    size = stack_bytes()
    # Some systems count the guard page in, some round down.
    if size is not None and size >= WASM_STACK_BYTES + _HOST_STACK_BYTES // 2:
        return None
    return RuntimeUnavailable(
        "runtime.stack_too_small",
        f"A thread of {THREAD_STACK_BYTES >> 20} MiB stack was asked for; the system gave "
        f"{'an unknown size' if size is None else f'{size >> 10} KiB'}.",
    )


def stack_bytes() -> int | None:
    """Size of the calling thread's stack as the system tells it, None when it does not."""
    try:
        if sys.platform == "win32":
            return _stack_bytes_windows()
        libc = ctypes.CDLL(None)
        libc.pthread_self.restype = ctypes.c_void_p
        if sys.platform == "darwin":
            libc.pthread_get_stacksize_np.restype = ctypes.c_size_t
            libc.pthread_get_stacksize_np.argtypes = [ctypes.c_void_p]
            return int(libc.pthread_get_stacksize_np(libc.pthread_self()))
        return _stack_bytes_linux(libc)
    except (OSError, AttributeError):
        return None


def _stack_bytes_linux(libc: ctypes.CDLL) -> int | None:
    """pthread_getattr_np(3)."""
    attributes = (ctypes.c_uint64 * 16)()  # pthread_attr_t: 56 bytes in glibc and musl, 64 on arm64
    low = ctypes.c_void_p()
    size = ctypes.c_size_t()
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
        return None
    failed = libc.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return None if failed else size.value


def _stack_bytes_windows() -> int:
    """GetCurrentThreadStackLimits, Windows 8 and later."""
    low, high = ctypes.c_size_t(), ctypes.c_size_t()
    kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    kernel32.GetCurrentThreadStackLimits(ctypes.byref(low), ctypes.byref(high))
    return high.value - low.value
