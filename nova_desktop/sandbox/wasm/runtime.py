"""``WasmRuntime``: everything of this room behind one door.

A run, in order: wait for a free thread; start the clock; fresh store and instance; hand over the
request; the guest runs, its imports answered by ``WasiHost`` and ``NovaHost``; drop the store;
say in one word how it ended.
"""

from __future__ import annotations

import functools
import json
import os
import struct
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nova_desktop.model import (
    Cancellation,
    InvalidRequest,
    Language,
    Limits,
    OutputCallback,
    ProgressCallback,
    RuntimeUnavailable,
)
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.cache import CompiledCache
from nova_desktop.sandbox.wasm.control import RunControl, RunEnded
from nova_desktop.sandbox.wasm.denied import DeniedLog
from nova_desktop.sandbox.wasm.endings import ending_of
from nova_desktop.sandbox.wasm.guests import Guests
from nova_desktop.sandbox.wasm.hostcalls import NovaHost
from nova_desktop.sandbox.wasm.isolate import CompiledGuest, Isolate
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.output import OutputCapture
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram
from nova_desktop.sandbox.wasm.scheduler import Scheduler
from nova_desktop.sandbox.wasm.wasi import WasiHost

ENFORCED = ("wasm-isolate", "memory-budget", "deadline", "output-limit", "files-in-memory")
"""The layers that confine every run of this runtime; there is no run with fewer."""

_U32 = struct.Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """All that belongs to one run."""

    guest: CompiledGuest
    program: GuestProgram
    request: bytes
    files: MemoryFileSystem
    limits: Limits
    budget: MemoryBudget
    control: RunControl
    on_output: OutputCallback | None
    host_call: Callable[[bytes], bytes] | None


class WasmRuntime:
    """Runs programs in fresh WebAssembly instances. Thread-safe. Cheap to make: the engine is
    loaded, and a guest compiled, when first needed. Close it, or it closes with the process.
    """

    def __init__(
        self, *, cache: Path, dist: Path | None = None, workers: int | None = None
    ) -> None:
        self._cache = CompiledCache(cache)
        self._dist = dist
        self._isolate: list[Isolate] = []  # none or one; shared with threads and finalizer
        self._scheduler = Scheduler(workers, functools.partial(_free_ended, self._isolate))
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._guests: Guests | None = None
        self._compiled: dict[Language, CompiledGuest] = {}
        self._live: set[Cancellation] = set()
        # Guest threads must not outlive the interpreter: while it ends, a thread that wants to
        # run Python again is unwound through wasmtime's frames, which aborts the process.
        self._finalizer = weakref.finalize(
            self, _close, self._pid, self._lock, self._live, self._scheduler, self._isolate
        )

    @property
    def cache_problem(self) -> str:
        """Why compiled guests were not used or could not be kept; empty when all is well."""
        return self._cache.problem

    @property
    def guests(self) -> Guests:
        """Raises:
        RuntimeUnavailable: the guests are missing or damaged.
        """
        if self._guests is None:
            self._guests = Guests(self._dist)
        return self._guests

    def prepare(self, language: Language, progress: ProgressCallback | None = None) -> None:
        """Make a language ready to run: from the cache, or compiled (up to 10 s, once).

        Raises:
            RuntimeUnavailable: no such guest, it is damaged, the engine is not there, or this
                process is a fork.
        """
        self._prepared(language, progress)

    def new_files(self, language: Language, budget: MemoryBudget) -> MemoryFileSystem:
        """An empty ``/work`` and ``/tmp``, with the guest's own read-only files around them.

        Raises:
            RuntimeUnavailable: the guest's files are missing or damaged.
        """
        return MemoryFileSystem(budget, self.guests.read_only_files(language))

    def run(
        self,
        program: GuestProgram,
        files: MemoryFileSystem,
        *,
        limits: Limits,
        budget: MemoryBudget,
        cancellation: Cancellation,
        on_output: OutputCallback | None = None,
        host_call: Callable[[bytes], bytes] | None = None,
        progress: ProgressCallback | None = None,
    ) -> GuestOutcome:
        """Run one program; blocks until it is over, for whatever reason.

        ``on_output`` and ``host_call`` are called on the guest's thread; ``progress`` on the
        caller's. Time in the queue is told in ``queued_ns`` and does not count against the
        run's clock. ``files`` and ``budget`` belong to this run alone.

        Raises:
            InvalidRequest: an unknown time zone, text that is not Unicode.
            RuntimeUnavailable: the guest or the engine cannot be used, or this process is a fork.
        """
        isolate, guest = self._prepared(program.language, progress)
        # A stop button of our own: the caller's may be shared, and close() must stop ours only.
        stop = Cancellation()
        run = _Run(
            guest=guest,
            program=program,
            request=_request(
                program,
                self.guests.time_zone(program.timezone),
                work_empty=not files.work.entries,
            ),
            files=files,
            limits=limits,
            budget=budget,
            control=RunControl(limits.timeout_s, stop),
            on_output=on_output,
            host_call=host_call,
        )

        def on_queued(ahead: int) -> None:
            if progress is not None:
                progress(f"waiting for a free core, {ahead} ahead", 0, 0)

        forget = cancellation.on_request(stop.request)
        self._live.add(stop)
        submitted_ns = time.monotonic_ns()
        try:
            return self._scheduler.execute(
                lambda queued_ns: _run_guest(isolate, run, queued_ns), stop, on_queued
            )
        except RunEnded as ended:  # stopped while it waited
            ending = ending_of(ended, report=None, budget=budget, limits=limits)
            return GuestOutcome(
                status=ending.status,
                exit_code=None,
                stdout=b"",
                stderr=b"",
                error=ending.error,
                queued_ns=time.monotonic_ns() - submitted_ns,
                enforced=ENFORCED,
            )
        finally:
            self._live.discard(stop)
            forget()

    def _prepared(
        self, language: Language, progress: ProgressCallback | None
    ) -> tuple[Isolate, CompiledGuest]:
        if os.getpid() != self._pid:
            raise RuntimeUnavailable(
                "runtime.forked",
                "This process is a fork of the one that opened the engine; its threads and "
                "locks stayed there.",
                "Open an engine after the fork, or start processes with 'spawn'.",
            )
        guest = self._compiled.get(language)
        if guest is None:
            with self._lock:
                guest = self._compiled.get(language) or self._load(language, progress)
                self._compiled[language] = guest
        isolate = next(iter(self._isolate), None)
        if isolate is None:
            raise _closed()
        return isolate, guest

    def _load(self, language: Language, progress: ProgressCallback | None) -> CompiledGuest:
        if not self._finalizer.alive:
            raise _closed()
        sha256 = self.guests.sha256(language)
        if not self._isolate:
            self._isolate.append(Isolate())
        isolate = self._isolate[0]
        compiled = self._cache.read(language.value, sha256)
        if compiled is not None:
            try:
                return isolate.load(compiled)
            except RuntimeUnavailable:
                pass  # made for other processor features than this machine shows: compile anew
        what = f"compiling the {language.value} guest (only once)"
        if progress is not None:
            progress(what, 0, 0)
        guest = isolate.compile(self.guests.wasm(language))
        self._cache.write(language.value, sha256, isolate.serialize(guest))
        if progress is not None:
            progress(what, 1, 1)
        return guest

    def close(self) -> None:
        """Stop what runs, end the threads, free the engine. Nothing can be run afterwards.

        Raises:
            NovaError: called from a run's own callback.
        """
        self._scheduler.refuse_guest_threads()
        self._finalizer()
        self._compiled.clear()


def _close(
    pid: int,
    lock: threading.Lock,
    live: set[Cancellation],
    scheduler: Scheduler,
    isolates: list[Isolate],
) -> None:
    """In this order: afterwards no thread can be in the engine when it is freed."""
    if os.getpid() != pid:
        return  # a fork: the threads are the parent's, and so are their locks
    for stop in list(live):
        stop.request()
    scheduler.close()
    with lock:  # somebody may be compiling
        while isolates:
            isolates.pop().close()


def _free_ended(isolates: list[Isolate]) -> None:
    for isolate in isolates:
        isolate.free_ended()


def _closed() -> RuntimeUnavailable:
    return RuntimeUnavailable("runtime.closed", "The engine was closed.")


def _run_guest(isolate: Isolate, run: _Run, queued_ns: int) -> GuestOutcome:
    """On a guest thread: the run itself, and what became of it."""
    run.control.start()
    started_ns = time.monotonic_ns()
    denied = DeniedLog()
    nova = NovaHost(control=run.control, budget=run.budget, denied=denied, host_call=run.host_call)
    output: OutputCapture | None = None
    cause: int | BaseException
    try:
        output = OutputCapture(run.limits, run.budget, run.on_output)
        wasi = WasiHost(
            files=run.files,
            arguments=_arguments(run.program),
            environment=run.program.environment,
            stdin=run.program.stdin,
            output=output.write,
            control=run.control,
            budget=run.budget,
            denied=denied,
            clock_resolution_ns=run.limits.clock_resolution_ns,
        )
        cause = isolate.run(run.guest, run.request, wasi, nova, run.budget)
    except RuntimeUnavailable:
        raise  # there was no run
    except BaseException as error:  # noqa: BLE001 - each is an ending, told in the outcome
        cause = error
    ending = ending_of(cause, report=nova.report_received, budget=run.budget, limits=run.limits)
    # The traceback's frames hold the guest's buffers, and through them themselves.
    del cause
    outcome = GuestOutcome(
        status=ending.status,
        exit_code=ending.exit_code,
        stdout=b"" if output is None else output.stdout.content(),
        stderr=b"" if output is None else output.stderr.content(),
        dropped_stdout=0 if output is None else output.stdout.dropped,
        dropped_stderr=0 if output is None else output.stderr.dropped,
        report=nova.report_received,
        denied=denied.entries(),
        error=ending.error,
        duration_ns=time.monotonic_ns() - started_ns,
        queued_ns=queued_ns,
        enforced=ENFORCED,
    )
    if output is not None:
        output.close()
    return outcome


def _arguments(program: GuestProgram) -> tuple[str, ...]:
    """``argv``; a program of the workspace is named as seen from ``/work``, where it starts."""
    if program.entry is None:
        return (program.source_name, *program.arguments)
    return (program.entry.removeprefix("/work/"), *program.arguments)


def _request(program: GuestProgram, tzif: bytes, *, work_empty: bool) -> bytes:
    """The bytes for ``nova_run``; ``runtime/nova-wasm/README.md`` describes them.

    Raises:
        InvalidRequest: the source has lone surrogates, so it is no text.
    """
    try:
        source = (program.source or "").encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            "request.source_not_text",
            f"The program is not valid Unicode text at character {error.start}.",
            "Save it as UTF-8.",
        ) from None
    header = json.dumps(
        {
            "name": program.source_name,
            "entry": program.entry,
            "argv": _arguments(program),
            "tz": program.timezone,
            "source_bytes": len(source),
            "tzif_bytes": len(tzif),
            "stdin": program.stdin is not None,
            "work_empty": work_empty,
        }
    ).encode()
    return b"".join((_U32.pack(len(header)), header, source, tzif))
