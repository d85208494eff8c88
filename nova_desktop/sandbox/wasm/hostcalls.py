"""Where guest and host meet: checked guest memory, and the functions that wasm calls.

This file and the bindings in ``libwasmtime`` are the only memory-unsafe code of the product.
What holds here:

- A guest address becomes host memory in one place only, ``GuestMemory._look``: a view of exactly
  the guest's present memory. Every copy, in both directions, first checks
  ``pointer + length <= size`` in Python integers, which cannot wrap; the view's own bounds
  stand behind that check.
- Pointers and lengths arrive as unsigned 32-bit integers, whatever the guest meant by them.
- A host function finds its run through a thread-local: guests that run at the same time on
  other threads share nothing with it.
- No Python exception crosses into wasmtime: each is kept on the run and becomes a trap.
"""

from __future__ import annotations

import ctypes
import json
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_ssize_t, c_uint32, c_void_p, py_object, string_at
from typing import TYPE_CHECKING, Any

from nova_desktop.model import MIB, Status
from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.control import RunControl, RunEnded
from nova_desktop.sandbox.wasm.denied import DeniedLog
from nova_desktop.sandbox.wasm.libwasmtime import (
    DEADLINE_CONTINUE,
    NO_FINALIZER,
    RAW_VALUE_BYTES,
    VALTYPE_KINDS,
    ByteVec,
    EpochCallback,
    HostFunction,
    take_failure,
)
from nova_desktop.sandbox.wasm.program import GuestReport

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FRAME_BYTES = 4 * MIB
"""The longest request or reply of ``nova.call``: no host call works on more."""

MAX_REPORT_BYTES = 64 << 10

ERRNO_FAULT = 21
"""WASI ``errno::fault``: the answer to a pointer outside the guest's memory."""

EPOCH_TICK_S = 0.01
_TICKS_BETWEEN_CHECKS = 5
"""A run looks at its stop button at least every 50 ms, half of the promised 100 ms; not at
every tick, since each look waits for Python's global lock."""

NOVA_SIGNATURES: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "call": (("i32", "i32", "i32", "i32"), True),
    "take": (("i32", "i32"), False),
    "report": (("i32", "i32"), False),
}
"""Imports of module ``nova``: parameter types, and whether there is an i32 result."""

RULE_NO_CAPABILITIES = "nova.no_capabilities"
"""This run was given nothing to call."""


class GuestFault(Exception):
    """The guest named bytes that are not in its memory; nothing was copied."""


_view_of = ctypes.PYFUNCTYPE(py_object, c_void_p, c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)
_WRITABLE = 0x200  # PyBUF_WRITE

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


class GuestMemory:
    """The linear memory of one running guest, every access checked.

    The view is taken anew whenever a range lies beyond it, since only then can the guest's
    memory have grown past what we know. It never moves: the engine is configured so.
    """

    __slots__ = ("_context", "_library", "_memory", "_view", "size")

    def __init__(self, library: ctypes.CDLL, context: int, memory: object) -> None:
        self._library = library
        self._context = context
        self._memory = memory
        self.size = 0
        self._view = memoryview(b"")
        self._look()

    def _look(self) -> None:
        """Take the present size, and the base with it."""
        self._view.release()
        self.size = self._library.wasmtime_memory_data_size(self._context, self._memory)
        base = self._library.wasmtime_memory_data(self._context, self._memory)
        self._view = _view_of(base, self.size, _WRITABLE)

    def check(self, pointer: int, length: int) -> None:
        """Raises:
        GuestFault: the range is not inside the guest's memory.
        """
        if pointer < 0 or length < 0:
            raise GuestFault
        if pointer + length > self.size:
            self._look()
            if pointer + length > self.size:
                raise GuestFault

    def present_size(self) -> int:
        """Bytes of guest memory now; on the guest's thread only."""
        size: int = self._library.wasmtime_memory_data_size(self._context, self._memory)
        return size

    def close(self) -> None:
        """The memory is about to be unmapped: any later access is a fault."""
        self._view.release()
        self._view = memoryview(b"")
        self.size = 0
        self._library = _Gone()  # type: ignore[assignment]

    def read(self, pointer: int, length: int) -> bytes:
        self.check(pointer, length)
        return bytes(self._view[pointer : pointer + length])

    def write(self, pointer: int, data: bytes | bytearray | memoryview) -> None:
        length = len(data)
        self.check(pointer, length)
        self._view[pointer : pointer + length] = data

    def read_u32(self, pointer: int) -> int:
        self.check(pointer, 4)
        value: int = _U32.unpack_from(self._view, pointer)[0]
        return value

    def write_u32(self, pointer: int, value: int) -> None:
        self.check(pointer, 4)
        _U32.pack_into(self._view, pointer, value)

    def write_u64(self, pointer: int, value: int) -> None:
        self.check(pointer, 8)
        _U64.pack_into(self._view, pointer, value)


class _Gone:
    """Stands in for the library once the guest is gone: its memory has no bytes."""

    @staticmethod
    def wasmtime_memory_data_size(_context: int, _memory: object) -> int:
        return 0

    @staticmethod
    def wasmtime_memory_data(_context: int, _memory: object) -> int:
        raise GuestFault


class NovaHost:
    """The imports of module ``nova`` for one run, and how that run ended."""

    def __init__(
        self,
        *,
        control: RunControl,
        budget: MemoryBudget,
        denied: DeniedLog,
        host_call: Callable[[bytes], bytes] | None,
    ) -> None:
        self.memory: GuestMemory | None = None
        self.control = control
        self.ended: BaseException | None = None
        """What a host function raised, the first time; the guest never ran on after it."""
        self.report_received: GuestReport | None = None
        self._budget = budget
        self._denied = denied
        self._host_call = host_call
        self._pending: bytes | None = None

    def call(self, request: int, length: int, reply: int, capacity: int) -> int:
        """A brokered call. A reply longer than ``capacity`` waits for one ``take``.

        Without capabilities the reply is empty, which no broker's reply is.
        """
        if self._host_call is None:
            self._denied.record("nova.call", "", RULE_NO_CAPABILITIES)
            return 0
        if length > MAX_FRAME_BYTES:
            raise _protocol_error(f"a request of {length} bytes")
        memory = self._running_memory()
        memory.check(reply, capacity)
        self._drop_pending()
        answer = self._host_call(memory.read(request, length))
        self.control.check()
        if len(answer) > MAX_FRAME_BYTES:
            raise ValueError(f"the broker's reply has {len(answer)} bytes")
        if len(answer) <= capacity:
            memory.write(reply, answer)
        else:
            self._budget.charge(len(answer))
            self._pending = answer
        return len(answer)

    def take(self, reply: int, length: int) -> None:
        """Copy the pending long reply: once, with exactly its length."""
        if self._pending is None or length != len(self._pending):
            raise _protocol_error("a reply that was not pending")
        self._running_memory().write(reply, self._pending)
        self._drop_pending()

    def report(self, pointer: int, length: int) -> None:
        """Facts about the exception that ended the program. Hostile text."""
        if length > MAX_REPORT_BYTES:
            raise _protocol_error(f"a report of {length} bytes")
        self.report_received = _parse_report(self._running_memory().read(pointer, length))

    def _running_memory(self) -> GuestMemory:
        if self.memory is None:
            raise _protocol_error("memory before it was started")
        return self.memory

    def _drop_pending(self) -> None:
        if self._pending is not None:
            self._budget.release(len(self._pending))
            self._pending = None

    def close(self) -> None:
        """Forget what the run held; afterwards its memory cannot be reached."""
        self._drop_pending()
        if self.memory is not None:
            self.memory.close()
            self.memory = None


def _protocol_error(what: str) -> RunEnded:
    return RunEnded(
        Status.FAILED,
        "guest.protocol",
        f"The program broke the rules between guest and host: {what}.",
    )


def _parse_report(text: bytes) -> GuestReport:
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        raise _protocol_error("a report that is not JSON") from None
    if not isinstance(facts, dict):
        raise _protocol_error("a report that is not a JSON object")

    def word(key: str) -> str:
        value = facts.get(key)
        if not isinstance(value, str):
            return ""
        # JSON can spell lone surrogates, which no terminal and no UTF-8 file takes.
        return value.encode("utf-8", "replace").decode()

    return GuestReport(word("type"), word("message"), word("module"), word("path"))


class _Live(threading.local):
    """The run of the calling thread, while a guest runs on it."""

    wasi: Any = None
    nova: NovaHost | None = None


_live = _Live()


@contextmanager
def run_on_this_thread(wasi: object, nova: NovaHost) -> Iterator[None]:
    """Host functions called on this thread belong to this run."""
    _live.wasi, _live.nova = wasi, nova
    try:
        yield
    finally:
        _live.wasi = _live.nova = None


def define_imports(
    library: ctypes.CDLL,
    linker: int,
    wasi_type: type,
    wasi_signatures: Mapping[str, tuple[str, ...]],
) -> list[object]:
    """Define every import of both modules. Returns what must live as long as the linker."""
    callbacks: list[object] = []
    for name, parameters in wasi_signatures.items():
        has_result = name != "proc_exit"
        callback = _wasi_callback(library, getattr(wasi_type, name), parameters, has_result)
        _define(library, linker, "wasi_snapshot_preview1", name, parameters, has_result, callback)
        callbacks.append(callback)
    for name, (parameters, has_result) in NOVA_SIGNATURES.items():
        callback = _nova_callback(library, getattr(NovaHost, name), parameters, has_result)
        _define(library, linker, "nova", name, parameters, has_result, callback)
        callbacks.append(callback)
    return callbacks


def _unpacker(parameters: Sequence[str]) -> Callable[[int], tuple[int, ...]]:
    """Reads the arguments, all as unsigned integers, from an array of raw values."""
    layout = struct.Struct("<" + "".join("I12x" if kind == "i32" else "Q8x" for kind in parameters))
    unpack, size = layout.unpack, len(parameters) * RAW_VALUE_BYTES

    def read(values: int) -> tuple[int, ...]:
        return unpack(string_at(values, size))

    return read


def _wasi_callback(
    library: ctypes.CDLL, function: Callable[..., int], parameters: Sequence[str], has_result: bool
) -> Any:
    read_arguments = _unpacker(parameters)
    result_at = c_uint32.from_address

    def callback(_env: int, _caller: int, values: int, _count: int) -> int | None:
        try:
            try:
                errno = function(_live.wasi, *read_arguments(values))
            except GuestFault:
                errno = ERRNO_FAULT
            if has_result:
                result_at(values).value = errno
            return None
        except BaseException as error:  # noqa: BLE001 - none may cross into wasmtime
            return _trap(library, error)

    return HostFunction(callback)


def _nova_callback(
    library: ctypes.CDLL, function: Callable[..., Any], parameters: Sequence[str], has_result: bool
) -> Any:
    read_arguments = _unpacker(parameters)
    result_at = c_uint32.from_address

    def callback(_env: int, _caller: int, values: int, _count: int) -> int | None:
        try:
            result = function(_live.nova, *read_arguments(values))
            if has_result:
                result_at(values).value = result
            return None
        except BaseException as error:  # noqa: BLE001 - none may cross into wasmtime
            return _trap(library, error)

    return HostFunction(callback)


def epoch_callback(library: ctypes.CDLL) -> Any:
    """What wasmtime asks whenever a run's epoch deadline passes: may it go on, and how long?"""

    def callback(_context: int, _data: int, delta: Any, kind: Any) -> int | None:
        try:
            nova = _live.nova
            assert nova is not None  # noqa: S101 - a guest runs only under run_on_this_thread
            nova.control.check()
            delta[0] = ticks_until_check(nova.control)
            kind[0] = DEADLINE_CONTINUE
            return None
        except BaseException as error:  # noqa: BLE001 - none may cross into wasmtime
            _keep(error)
            message: int = library.wasmtime_error_new(b"run ended")
            return message

    return EpochCallback(callback)


def ticks_until_check(control: RunControl) -> int:
    """Epochs until the run must look at its clock and its stop button again."""
    return max(1, int(min(_TICKS_BETWEEN_CHECKS, control.left() / EPOCH_TICK_S + 1)))


def bad_pointer() -> RunEnded:
    """How a run ends that named memory it does not have where there is no errno to answer."""
    return RunEnded(
        Status.FAILED, "guest.bad_pointer", "The program named memory that it does not have."
    )


def _keep(error: BaseException) -> None:
    """Remember on the run why it ends; the first reason counts."""
    nova = _live.nova
    if nova is not None and nova.ended is None:
        nova.ended = error


def _trap(library: ctypes.CDLL, error: BaseException) -> int:
    if isinstance(error, GuestFault):
        error = bad_pointer()
    elif isinstance(error, BudgetExceeded):
        error = RunEnded(
            Status.OUT_OF_MEMORY, "run.out_of_memory", "The program ran out of its memory limit."
        )
    _keep(error)
    trap: int = library.wasmtime_trap_new(b"host", 4)
    return trap


def _define(
    library: ctypes.CDLL,
    linker: int,
    module: str,
    name: str,
    parameters: Sequence[str],
    has_result: bool,
    callback: Any,
) -> None:
    """One import, with *our* signature: a guest that expects another one does not link."""
    function_type = library.wasm_functype_new(
        ctypes.byref(_valtypes(library, parameters)),
        ctypes.byref(_valtypes(library, ("i32",) if has_result else ())),
    )
    module_bytes, name_bytes = module.encode(), name.encode()
    failure = take_failure(
        library,
        library.wasmtime_linker_define_func_unchecked(
            *(linker, module_bytes, len(module_bytes), name_bytes, len(name_bytes)),
            *(function_type, callback, None, NO_FINALIZER),
        ),
    )
    library.wasm_functype_delete(function_type)
    if failure is not None:
        raise RuntimeError(f"{module}.{name}: {failure.message}")


def _valtypes(library: ctypes.CDLL, kinds: Sequence[str]) -> ByteVec:
    """A ``wasm_valtype_vec_t``; the function type that it is given to owns it."""
    types = (c_void_p * len(kinds))(*(library.wasm_valtype_new(VALTYPE_KINDS[k]) for k in kinds))
    vector = ByteVec()
    library.wasm_valtype_vec_new(ctypes.byref(vector), len(kinds), types)
    return vector
