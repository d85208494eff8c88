"""The few functions of wasmtime's C API that we use, bound by plain ctypes.

The shared library comes with the ``wasmtime`` distribution. Its Python package is never
imported: that costs some 70 ms and 8 MB, several times a whole run. Prototypes and struct
layouts below follow ``wasmtime.h`` of the pinned version; another version is refused, because
a wrong prototype here is memory corruption, not an exception.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_bool,
    c_char_p,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nova_desktop.model import RuntimeUnavailable

WASMTIME_VERSION = "50.0.1"

_LIBRARY_NAMES = {
    "linux": "_libwasmtime.so",
    "darwin": "_libwasmtime.dylib",
    "win32": "_wasmtime.dll",
}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


class ByteVec(ctypes.Structure):
    """``wasm_byte_vec_t``; also stands for the vectors of pointers, which have the same shape."""

    _fields_ = (("size", c_size_t), ("data", c_void_p))


class Extern(ctypes.Structure):
    """``wasmtime_extern_t``: a kind and a union; ``of`` is passed on as func or memory."""

    _fields_ = (("kind", c_uint8), ("of", c_uint64 * 3))


class Instance(ctypes.Structure):
    """``wasmtime_instance_t``: plain data, owned by its store."""

    _fields_ = (("store_id", c_uint64), ("index", c_size_t))


class Value(ctypes.Structure):
    """``wasmtime_val_t``: a kind and a union, of which we use its first member, ``i32``."""

    _fields_ = (("kind", c_uint8), ("of", c_uint64 * 3))


EXTERN_FUNC = 0
EXTERN_MEMORY = 3

VALTYPE_KINDS = {"i32": 0, "i64": 1}
"""``wasm_valkind_t``, and ``wasmtime_valkind_t`` alike."""

RAW_VALUE_BYTES = 16
"""Size of ``wasmtime_val_raw_t``, little-endian, the value first."""

TRAP_STACK_OVERFLOW = 0
TRAP_MEMORY_OUT_OF_BOUNDS = 1
TRAP_INTERRUPT = 10
"""``wasmtime_trap_code_t`` of the traps that we tell apart."""

DEADLINE_CONTINUE = 0
"""``WASMTIME_UPDATE_DEADLINE_CONTINUE``: go on, with the deadline moved by the given delta."""

HostFunction = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_size_t)
"""``wasmtime_func_unchecked_callback_t``: (env, caller, values, count) -> trap or NULL."""

EpochCallback = CFUNCTYPE(c_void_p, c_void_p, c_void_p, POINTER(c_uint64), POINTER(c_uint8))
"""(context, data, out: delta, out: kind) -> error or NULL."""

NO_FINALIZER = CFUNCTYPE(None, c_void_p)(0)

_P = c_void_p
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    # name: (result, parameters...)
    "wasm_byte_vec_delete": (None, _P),
    "wasm_config_new": (_P,),
    "wasm_engine_delete": (None, _P),
    "wasm_engine_new_with_config": (_P, _P),
    "wasm_functype_delete": (None, _P),
    "wasm_functype_new": (_P, _P, _P),
    "wasm_trap_delete": (None, _P),
    "wasm_trap_message": (None, _P, _P),
    "wasm_valtype_new": (_P, c_uint8),
    "wasm_valtype_vec_new": (None, _P, c_size_t, _P),
    "wasmtime_config_async_stack_size_set": (None, _P, c_uint64),
    "wasmtime_config_concurrency_support_set": (None, _P, c_bool),
    "wasmtime_config_epoch_interruption_set": (None, _P, c_bool),
    "wasmtime_config_gc_support_set": (None, _P, c_bool),
    "wasmtime_config_max_wasm_stack_set": (None, _P, c_size_t),
    "wasmtime_config_memory_may_move_set": (None, _P, c_bool),
    "wasmtime_config_native_unwind_info_set": (None, _P, c_bool),
    "wasmtime_config_parallel_compilation_set": (None, _P, c_bool),
    "wasmtime_config_shared_memory_set": (None, _P, c_bool),
    "wasmtime_config_wasm_component_model_set": (None, _P, c_bool),
    "wasmtime_config_wasm_custom_page_sizes_set": (None, _P, c_bool),
    "wasmtime_config_wasm_exceptions_set": (None, _P, c_bool),
    "wasmtime_config_wasm_function_references_set": (None, _P, c_bool),
    "wasmtime_config_wasm_gc_set": (None, _P, c_bool),
    "wasmtime_config_wasm_memory64_set": (None, _P, c_bool),
    "wasmtime_config_wasm_multi_memory_set": (None, _P, c_bool),
    "wasmtime_config_wasm_relaxed_simd_set": (None, _P, c_bool),
    "wasmtime_config_wasm_simd_set": (None, _P, c_bool),
    "wasmtime_config_wasm_stack_switching_set": (None, _P, c_bool),
    "wasmtime_config_wasm_tail_call_set": (None, _P, c_bool),
    "wasmtime_config_wasm_threads_set": (None, _P, c_bool),
    "wasmtime_config_wasm_wide_arithmetic_set": (None, _P, c_bool),
    "wasmtime_context_set_epoch_deadline": (None, _P, c_uint64),
    "wasmtime_engine_increment_epoch": (None, _P),
    "wasmtime_error_delete": (None, _P),
    "wasmtime_error_message": (None, _P, _P),
    "wasmtime_error_new": (_P, c_char_p),
    "wasmtime_func_call": (_P, _P, _P, _P, c_size_t, _P, c_size_t, _P),
    "wasmtime_instance_export_get": (c_bool, _P, _P, c_char_p, c_size_t, _P),
    "wasmtime_instance_pre_delete": (None, _P),
    "wasmtime_instance_pre_instantiate": (_P, _P, _P, _P, _P),
    "wasmtime_linker_define_func_unchecked": (
        *(_P, _P, c_char_p, c_size_t, c_char_p, c_size_t),
        *(_P, HostFunction, _P, type(NO_FINALIZER)),
    ),
    "wasmtime_linker_delete": (None, _P),
    "wasmtime_linker_instantiate_pre": (_P, _P, _P, _P),
    "wasmtime_linker_new": (_P, _P),
    "wasmtime_memory_data": (_P, _P, _P),
    "wasmtime_memory_data_size": (c_size_t, _P, _P),
    "wasmtime_module_delete": (None, _P),
    "wasmtime_module_deserialize": (_P, _P, c_char_p, c_size_t, _P),
    "wasmtime_module_new": (_P, _P, c_char_p, c_size_t, _P),
    "wasmtime_module_serialize": (_P, _P, _P),
    "wasmtime_store_context": (_P, _P),
    "wasmtime_store_delete": (None, _P),
    "wasmtime_store_epoch_deadline_callback": (None, _P, EpochCallback, _P, type(NO_FINALIZER)),
    "wasmtime_store_limiter": (None, _P, c_int64, c_int64, c_int64, c_int64, c_int64),
    "wasmtime_store_new": (_P, _P, _P, type(NO_FINALIZER)),
    "wasmtime_trap_code": (c_bool, _P, POINTER(c_uint8)),
    "wasmtime_trap_new": (_P, c_char_p, c_size_t),
}

_REINSTALL = f"Install the pinned version: pip install wasmtime=={WASMTIME_VERSION}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call into wasmtime did not succeed."""

    message: str
    trap_code: int | None
    """One of ``TRAP_…`` when the guest trapped, None for every other error."""


@functools.cache
def load() -> ctypes.CDLL:
    """The library with every prototype set. Thread-safe, loaded once per process.

    Raises:
        RuntimeUnavailable: not installed, another version, or no build for this system.
    """
    path = _library_path()
    try:
        library = ctypes.CDLL(os.fspath(path))
        for name, (result, *parameters) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = parameters
    except (OSError, AttributeError) as error:
        raise RuntimeUnavailable(
            "runtime.wasmtime_broken",
            f"The WebAssembly engine at {path} cannot be loaded: {error}",
            _REINSTALL,
        ) from error
    return library


def take_failure(
    library: ctypes.CDLL, error: int | None, trap: int | None = None
) -> Failure | None:
    """Turn what a call handed back into a value and free it; None when there was no failure."""
    if not error and not trap:
        return None
    text = ByteVec()
    code = c_uint8(255)
    if error:
        library.wasmtime_error_message(error, ctypes.byref(text))
        library.wasmtime_error_delete(error)
    if trap:
        library.wasm_trap_message(trap, ctypes.byref(text))
        library.wasmtime_trap_code(trap, code)
        library.wasm_trap_delete(trap)
    message = ctypes.string_at(text.data, text.size).rstrip(b"\0").decode("utf-8", "replace")
    library.wasm_byte_vec_delete(ctypes.byref(text))
    return Failure(message, code.value if trap else None)


def machine_name() -> str:
    """The processor's architecture in the system's own word (``x86_64``, ``AMD64``)."""
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform  # takes 4 ms to import; only Windows needs it

    return platform.machine()


def _library_path() -> Path:
    """Where the installed distribution keeps the library; its Python code is not run."""
    spec = importlib.util.find_spec("wasmtime")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeUnavailable(
            "runtime.wasmtime_missing",
            "The WebAssembly engine (the package wasmtime) is not installed.",
            _REINSTALL,
        )
    package = Path(spec.submodule_search_locations[0])
    # Looking for the folder costs nothing; importlib.metadata takes 20 ms to import.
    if not (package.parent / f"wasmtime-{WASMTIME_VERSION}.dist-info").is_dir():
        _require_pinned_version()
    name = _LIBRARY_NAMES.get(sys.platform)
    machine = _MACHINES.get(machine_name().lower())
    if name is None or machine is None or sys.maxsize < 1 << 32:
        raise RuntimeUnavailable(
            "runtime.unsupported_system",
            f"The WebAssembly engine does not exist for {sys.platform} on "
            f"{machine_name()} ({'64' if sys.maxsize > 1 << 32 else '32'} bit).",
            "Use 64-bit Python on Linux, Windows or macOS, on x86-64 or arm64.",
        )
    return package / f"{sys.platform}-{machine}" / name


def _require_pinned_version() -> None:
    from importlib import metadata  # slow, and only needed to explain

    try:
        found = metadata.version("wasmtime")
    except metadata.PackageNotFoundError:
        found = "of unknown version"
    if found != WASMTIME_VERSION:
        raise RuntimeUnavailable(
            "runtime.wasmtime_version",
            f"The installed wasmtime is {found}; its C interface was checked for "
            f"{WASMTIME_VERSION} only.",
            _REINSTALL,
        )
