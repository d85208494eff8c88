"""Modules made of host calls alone: what an attacker writes who ignores the interpreters."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import zstandard
from wasmtime import wat2wasm

from nova_desktop.model import Cancellation, Denied, ErrorInfo, Language, Limits, Status
from nova_desktop.sandbox.wasm import MemoryBudget, WasmRuntime
from nova_desktop.sandbox.wasm.hostcalls import NOVA_SIGNATURES
from nova_desktop.sandbox.wasm.program import GuestProgram
from nova_desktop.sandbox.wasm.wasi import SIGNATURES

Call = tuple[str, tuple[int, ...]]


DATA_OF_A_VALID_CALL = b"work"
"""A request of these bytes is echoed; every other one is the module's list of results."""


@dataclass(frozen=True, slots=True)
class RawOutcome:
    status: Status
    error: ErrorInfo | None
    results: tuple[int, ...]
    """The low byte of what each call returned, of a module that came to its end."""
    files: Mapping[str, bytes]
    denied: tuple[Denied, ...]


def module_text(calls: Sequence[Call], data: Mapping[int, bytes], *, pages: int = 2) -> str:
    """WebAssembly text of a guest that makes these calls in order and then exits with 0.

    What each returned is kept in a page behind the memory that the calls are aimed at, and
    told to the test by one last ``nova.call``, which no call before it can have closed.
    """
    imports = []
    for name, kinds in SIGNATURES.items():
        result = "" if name == "proc_exit" else "(result i32)"
        imports.append(
            f'(import "wasi_snapshot_preview1" "{name}"'
            f" (func ${name} (param {' '.join(kinds)}) {result}))"
        )
    for name, (kinds, has_result) in NOVA_SIGNATURES.items():
        imports.append(
            f'(import "nova" "{name}" (func $nova_{name} (param {" ".join(kinds)})'
            f" {'(result i32)' if has_result else ''}))"
        )
    body = []
    for name, arguments in calls:
        if name.startswith("nova_"):
            kinds, has_result = NOVA_SIGNATURES[name.removeprefix("nova_")]
        else:
            kinds, has_result = SIGNATURES[name], name != "proc_exit"
        pushed = " ".join(
            f"({kind}.const {value})" for kind, value in zip(kinds, arguments, strict=True)
        )
        call = f"(call ${name} {pushed})"
        if has_result:
            body.append(f"(local.set $errno {call})")
            body.append("(i32.store8 (global.get $at) (local.get $errno))")
        else:
            body.append(call)
        body.append("(global.set $at (i32.add (global.get $at) (i32.const 1)))")
    segments = [f'(data (i32.const {at}) "{_escaped(content)}")' for at, content in data.items()]
    return f"""(module
      {" ".join(imports)}
      (memory (export "memory") {pages + 1} 64)
      (global $at (mut i32) (i32.const {pages * 65536}))
      {" ".join(segments)}
      (func (export "nova_alloc") (param i32) (result i32) (i32.const {pages * 65536 + 32768}))
      (func (export "nova_run") (param i32 i32) (result i32) (local $errno i32)
        {" ".join(body)}
        (drop (call $nova_call (i32.const {pages * 65536})
          (i32.sub (global.get $at) (i32.const {pages * 65536})) (i32.const 0) (i32.const 0)))
        (i32.const 0)))"""


def _escaped(content: bytes) -> str:
    return "".join(f"\\{byte:02x}" for byte in content)


class RawGuests:
    """Runs such modules in the product's runtime, each as if it were the Python guest."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nova-raw-")
        self._count = 0

    def __enter__(self) -> RawGuests:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def run(
        self,
        calls: Sequence[Call],
        data: Mapping[int, bytes],
        *,
        budget: MemoryBudget,
        limits: Limits,
        stop: Cancellation | None = None,
        pages: int = 2,
    ) -> RawOutcome:
        return self.run_wasm(
            bytes(wat2wasm(module_text(calls, data, pages=pages))),
            budget=budget,
            limits=limits,
            stop=stop,
        )

    def run_wasm(
        self,
        wasm: bytes,
        *,
        budget: MemoryBudget,
        limits: Limits,
        stop: Cancellation | None = None,
    ) -> RawOutcome:
        self._count += 1
        dist = Path(self._folder.name) / str(self._count)
        dist.mkdir()
        (dist / "python.wasm.zst").write_bytes(zstandard.compress(wasm))
        entry = {
            "file": "python.wasm.zst",
            "sha256": hashlib.sha256(wasm).hexdigest(),
            "bytes": len(wasm),
        }
        manifest = {"format": 1, "artefacts": {"python.wasm": entry}}
        (dist / "manifest.json").write_text(json.dumps(manifest))
        results = bytearray()

        def told(data: bytes) -> bytes:
            if data == DATA_OF_A_VALID_CALL:
                return data
            results.extend(data)
            return b""

        runtime = WasmRuntime(dist=dist, cache=dist / "cache", workers=1)
        try:
            files = runtime.new_files(Language.PYTHON, budget)
            outcome = runtime.run(
                GuestProgram(language=Language.PYTHON, source=""),
                files,
                limits=limits,
                budget=budget,
                cancellation=stop or Cancellation(),
                host_call=told,
            )
            left = {
                e.path: b"".join(e.chunks())
                for e in files.walk()
                if not e.is_directory and e.size < 1 << 20
            }
        finally:
            runtime.close()
        return RawOutcome(outcome.status, outcome.error, tuple(results), left, outcome.denied)
