"""One wasmtime engine, and fresh instances of guests in it.

An instance serves one run and is dropped. Everything a guest can use up is bounded here: its
memory (by the run's shared budget), its tables and instances (by the store), its stack (by the
engine), its time (by epochs, see ``ticker``). Guests run on threads of ``scheduler`` only.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from ctypes import byref, c_void_p
from dataclasses import dataclass

from nova_desktop.model import MIB, NovaError, RuntimeUnavailable, Status
from nova_desktop.sandbox.wasm import libwasmtime
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.control import RunEnded
from nova_desktop.sandbox.wasm.hostcalls import (
    EPOCH_TICK_S,
    GuestFault,
    GuestMemory,
    NovaHost,
    bad_pointer,
    define_imports,
    epoch_callback,
    run_on_this_thread,
    ticks_until_check,
)
from nova_desktop.sandbox.wasm.libwasmtime import (
    EXTERN_FUNC,
    EXTERN_MEMORY,
    NO_FINALIZER,
    VALTYPE_KINDS,
    ByteVec,
    Extern,
    Failure,
    Instance,
    Value,
    take_failure,
)
from nova_desktop.sandbox.wasm.ticker import Ticker
from nova_desktop.sandbox.wasm.wasi import SIGNATURES, WasiHost

I32 = VALTYPE_KINDS["i32"]

WASM_STACK_BYTES = 8 * MIB
"""What the guest may use of its thread's stack. The guests' own recursion limits are tuned to
it, so that runaway recursion is RecursionError inside the guest."""

ASYNC_STACK_BYTES = 2 * WASM_STACK_BYTES
"""Unused, but wasmtime aborts the process when it is smaller than the wasm stack."""

PAGE_BYTES = 64 << 10
MAX_TABLES = 1
MAX_TABLE_ELEMENTS = 32_768
MAX_INSTANCES = 1
MAX_MEMORIES = 1

_SETTINGS: tuple[tuple[str, int], ...] = (
    # In this order: the async stack first, see ASYNC_STACK_BYTES.
    ("async_stack_size", ASYNC_STACK_BYTES),
    ("max_wasm_stack", WASM_STACK_BYTES),
    ("epoch_interruption", True),
    ("parallel_compilation", True),
    # GuestMemory keeps a base address; 4 GiB are reserved for each memory, so none need move.
    ("memory_may_move", False),
    # Only debuggers and foreign unwinders read it; without it compiled guests are smaller.
    ("native_unwind_info", False),
    # Nothing that the guests do not use: less of the compiler is reachable.
    ("concurrency_support", False),
    ("shared_memory", False),
    ("gc_support", False),
    ("wasm_threads", False),
    ("wasm_gc", False),
    ("wasm_function_references", False),
    ("wasm_exceptions", False),
    ("wasm_stack_switching", False),
    ("wasm_memory64", False),
    ("wasm_multi_memory", False),
    ("wasm_custom_page_sizes", False),
    ("wasm_wide_arithmetic", False),
    ("wasm_relaxed_simd", False),
    ("wasm_tail_call", False),
    ("wasm_component_model", False),
)

CONFIGURATION = ";".join(f"{name}={int(value)}" for name, value in _SETTINGS)
"""Identifies what a compiled guest was compiled for."""


_JUST_BELOW_ZERO = re.compile(r"wasm address 0xff[0-9a-f]{6}\b")


class GuestTrapped(Exception):
    """wasmtime ended the guest for a reason of the guest's own."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @property
    def stack_exhausted(self) -> bool:
        """True for the machine's stack and for the guest's own one.

        The guest's stack lies at the bottom of its memory (wasm-ld's ``--stack-first``), so an
        overflow is an access just below address 0, which reads as one near 2³².
        """
        if self.failure.trap_code == libwasmtime.TRAP_STACK_OVERFLOW:
            return True
        return (
            self.failure.trap_code == libwasmtime.TRAP_MEMORY_OUT_OF_BOUNDS
            and _JUST_BELOW_ZERO.search(self.failure.message) is not None
        )


@dataclass(frozen=True, slots=True)
class CompiledGuest:
    """A module of this engine with its imports resolved; instances are made from it."""

    module: int
    instance_pre: int


class _Scratch(threading.local):
    """Out-parameters of the calls of a run, made once per thread: a run makes none."""

    def __init__(self) -> None:
        self.instance = Instance()
        self.memory = Extern()
        self.alloc = Extern()
        self.run = Extern()
        self.trap = c_void_p()
        self.arguments = (Value * 2)()
        self.result = Value()
        self.ended: list[int] = []
        """Stores of runs that are over, not yet freed."""


class Isolate:
    """The engine with our host functions. Thread-safe; each run's store is its thread's own."""

    def __init__(self) -> None:
        self.library = library = libwasmtime.load()
        config = library.wasm_config_new()
        for name, value in _SETTINGS:
            getattr(library, f"wasmtime_config_{name}_set")(config, value)
        self.engine: int = library.wasm_engine_new_with_config(config)
        if not self.engine:
            raise RuntimeUnavailable(
                "runtime.engine_refused", "The WebAssembly engine refused its configuration."
            )
        self._linker: int = library.wasmtime_linker_new(self.engine)
        self._callbacks = define_imports(library, self._linker, WasiHost, SIGNATURES)
        self._on_epoch = epoch_callback(library)
        self._guests: list[CompiledGuest] = []
        self._scratch = _Scratch()
        self._ticker = Ticker(
            lambda: library.wasmtime_engine_increment_epoch(self.engine), EPOCH_TICK_S
        )

    def compile(self, wasm: bytes) -> CompiledGuest:
        """Seconds of work on all cores.

        Raises:
            RuntimeUnavailable: not a valid module, or one that expects other imports.
        """
        module = c_void_p()
        self._succeed(self.library.wasmtime_module_new(self.engine, wasm, len(wasm), byref(module)))
        return self._link(module)

    def load(self, compiled: bytes) -> CompiledGuest:
        """Take what ``serialize`` gave. **Only bytes that we wrote ourselves**: wasmtime maps
        them as machine code and cannot tell a forgery.

        Raises:
            RuntimeUnavailable: compiled by another wasmtime, for another processor.
        """
        module = c_void_p()
        self._succeed(
            self.library.wasmtime_module_deserialize(
                self.engine, compiled, len(compiled), byref(module)
            )
        )
        return self._link(module)

    def serialize(self, guest: CompiledGuest) -> bytes:
        serialized = ByteVec()
        self._succeed(self.library.wasmtime_module_serialize(guest.module, byref(serialized)))
        try:
            return ctypes.string_at(serialized.data, serialized.size)
        finally:
            self.library.wasm_byte_vec_delete(byref(serialized))

    def _link(self, module: c_void_p) -> CompiledGuest:
        instance_pre = c_void_p()
        error = self.library.wasmtime_linker_instantiate_pre(
            self._linker, module, byref(instance_pre)
        )
        if error:
            self.library.wasmtime_module_delete(module)
        self._succeed(error)
        assert module.value is not None  # noqa: S101 - both calls succeeded
        assert instance_pre.value is not None  # noqa: S101
        guest = CompiledGuest(module.value, instance_pre.value)
        self._guests.append(guest)
        return guest

    def _succeed(self, error: int | None) -> None:
        failure = take_failure(self.library, error)
        if failure is not None:
            raise RuntimeUnavailable(
                "runtime.guest_refused",
                f"The language guest cannot be loaded: {failure.message}",
                "Reinstall Nova; in a source tree, run: make guests",
            )

    def run(
        self,
        guest: CompiledGuest,
        request: bytes,
        wasi: WasiHost,
        nova: NovaHost,
        budget: MemoryBudget,
    ) -> int:
        """Run one program in a fresh instance; returns its exit code.

        Blocks. Only on a thread whose stack was checked (``scheduler``), since a guest's
        recursion may use ``WASM_STACK_BYTES`` of it. ``free_ended`` must follow on the same
        thread.

        Raises:
            BaseException: whatever a host function raised (``GuestExit``, ``RunEnded``, a bug).
            GuestTrapped: the guest ended itself by a trap.
            RuntimeUnavailable: the guest keeps another contract, or the system has no room.
        """
        library = self.library
        store = library.wasmtime_store_new(self.engine, None, NO_FINALIZER)
        try:
            context = library.wasmtime_store_context(store)
            library.wasmtime_store_epoch_deadline_callback(
                store, self._on_epoch, None, NO_FINALIZER
            )
            library.wasmtime_context_set_epoch_deadline(context, ticks_until_check(nova.control))
            _follow_budget(library, store, budget, nova)
            with self._ticker.running(), run_on_this_thread(wasi, nova):
                return self._run_in(context, guest, request, wasi, nova)
        finally:
            # Nobody can reach the store any more; free_ended lets it go.
            budget.attach_guest(_no_memory, _no_change)
            nova.close()
            self._scratch.ended.append(store)

    def free_ended(self) -> None:
        """Free the stores of this thread's ended runs.

        Apart from ``run``, since giving a run's memory back to the system takes as long as a
        short program: the caller has its result before.
        """
        while self._scratch.ended:
            self.library.wasmtime_store_delete(self._scratch.ended.pop())

    def _run_in(
        self, context: int, guest: CompiledGuest, request: bytes, wasi: WasiHost, nova: NovaHost
    ) -> int:
        library, scratch = self.library, self._scratch
        scratch.trap.value = None
        error = library.wasmtime_instance_pre_instantiate(
            guest.instance_pre, context, byref(scratch.instance), byref(scratch.trap)
        )
        self._check(error, nova, _not_started)
        self._export(context, b"memory", EXTERN_MEMORY, scratch.memory)
        self._export(context, b"nova_alloc", EXTERN_FUNC, scratch.alloc)
        self._export(context, b"nova_run", EXTERN_FUNC, scratch.run)
        memory = GuestMemory(library, context, scratch.memory.of)
        nova.memory = wasi.memory = memory
        pointer = self._call(context, scratch.alloc, (len(request),), nova)
        if pointer == 0:
            raise _no_room()
        try:
            memory.write(pointer, request)
        except GuestFault:
            raise bad_pointer() from None
        return self._call(context, scratch.run, (pointer, len(request)), nova)

    def _call(
        self, context: int, function: Extern, arguments: tuple[int, ...], nova: NovaHost
    ) -> int:
        """Call ``(i32, …) -> i32``, which wasmtime checks; the result as an unsigned integer."""
        scratch = self._scratch
        for value, argument in zip(scratch.arguments, arguments, strict=False):
            value.kind = I32
            value.of[0] = argument
        scratch.trap.value = None
        error = self.library.wasmtime_func_call(
            *(context, function.of, scratch.arguments, len(arguments)),
            *(byref(scratch.result), 1, byref(scratch.trap)),
        )
        self._check(error, nova, _another_contract)
        if scratch.result.kind != I32:
            raise _another_contract("a function that returns no i32")
        return int(scratch.result.of[0]) & 0xFFFF_FFFF

    def _check(
        self, error: int | None, nova: NovaHost, refused: Callable[[str], BaseException]
    ) -> None:
        """Raise what ended the guest, the host's own reason before wasmtime's words for it.

        ``refused`` makes the exception for an error that neither guest nor host function made.
        """
        failure = take_failure(self.library, error, self._scratch.trap.value)
        if failure is None:
            return
        self._scratch.trap.value = None
        if nova.ended is not None:
            ended, nova.ended = nova.ended, None
            raise ended
        if failure.trap_code is None:
            raise refused(failure.message)
        raise GuestTrapped(failure)

    def _export(self, context: int, name: bytes, kind: int, into: Extern) -> None:
        found = self.library.wasmtime_instance_export_get(
            context, byref(self._scratch.instance), name, len(name), byref(into)
        )
        if not found or into.kind != kind:
            raise _another_contract(f"it does not export {name.decode()}")

    def close(self) -> None:
        """Free everything. No run may be in progress, and none may follow."""
        self._ticker.close()
        for guest in self._guests:
            self.library.wasmtime_instance_pre_delete(guest.instance_pre)
            self.library.wasmtime_module_delete(guest.module)
        self._guests.clear()
        if self.engine:
            self.library.wasmtime_linker_delete(self._linker)
            self.library.wasm_engine_delete(self.engine)
            self.engine = 0


def _not_started(why: str) -> NovaError | RunEnded:
    if "memory limits" in why:
        return _no_room()  # the snapshot alone is larger than the limit
    return RuntimeUnavailable(
        "runtime.cannot_start",
        f"The language guest could not be started: {why}",
        "4 GiB of address space are reserved for each run: raise `ulimit -v`, or run fewer "
        "programs at once.",
    )


def _another_contract(what: str) -> RuntimeUnavailable:
    return RuntimeUnavailable(
        "runtime.guest_refused",
        f"The language guest keeps another contract than ours: {what}.",
        "Reinstall Nova; in a source tree, run: make guests",
    )


def _follow_budget(library: ctypes.CDLL, store: int, budget: MemoryBudget, nova: NovaHost) -> None:
    """Let the guest's memory grow exactly as far as the run's budget has room.

    The limiter is set anew in the middle of a run, on the guest's own thread, whenever the room
    changes by a page of guest memory, the unit in which guests grow.
    """
    limit = -1

    def on_change(room: int) -> None:
        nonlocal limit
        pages = max(0, room) // PAGE_BYTES
        if pages != limit:
            limit = pages
            library.wasmtime_store_limiter(
                store,
                pages * PAGE_BYTES,
                MAX_TABLE_ELEMENTS,
                MAX_INSTANCES,
                MAX_TABLES,
                MAX_MEMORIES,
            )

    def guest_bytes() -> int:
        return 0 if nova.memory is None else nova.memory.present_size()

    budget.attach_guest(guest_bytes, on_change)


def _no_memory() -> int:
    return 0


def _no_change(_room: int) -> None:
    return None


def _no_room() -> RunEnded:
    return RunEnded(
        Status.OUT_OF_MEMORY,
        "run.out_of_memory",
        "The memory limit is too small to start the program.",
    )
