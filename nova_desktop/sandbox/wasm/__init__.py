"""The WASM runtime: language guests compiled to WebAssembly, confined in this process.

Read in this order: ``program`` (what goes in and comes out), ``runtime`` (the door),
``isolate`` (engine, limits, one instance per run), ``hostcalls`` and ``libwasmtime`` (the only
memory-unsafe code of the product), ``wasi`` and ``memfs`` (what the guest can ask for).
"""

from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram, GuestReport
from nova_desktop.sandbox.wasm.runtime import WasmRuntime

__all__ = [
    "BudgetExceeded",
    "GuestOutcome",
    "GuestProgram",
    "GuestReport",
    "MemoryBudget",
    "MemoryFileSystem",
    "WasmRuntime",
]
