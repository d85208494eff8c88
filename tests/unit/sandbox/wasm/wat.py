"""Guests of a few lines of WebAssembly text, run in a real isolate on a real guest thread."""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import zstandard
from wasmtime import wat2wasm

from nova_desktop.model import MIB, Cancellation, Stream
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.control import RunControl, RunEnded
from nova_desktop.sandbox.wasm.denied import DeniedLog
from nova_desktop.sandbox.wasm.hostcalls import NOVA_SIGNATURES, NovaHost
from nova_desktop.sandbox.wasm.isolate import CompiledGuest, Isolate
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from nova_desktop.sandbox.wasm.scheduler import Scheduler
from nova_desktop.sandbox.wasm.wasi import SIGNATURES, WasiHost

REQUEST_AT = 1024
"""Where these guests let the host put the request."""

SLEEP_10_S = """
    (i64.store (i32.const 16) (i64.const 0))             ;; userdata
    (i32.store8 (i32.const 24) (i32.const 0))            ;; a clock subscription
    (i32.store (i32.const 32) (i32.const 1))             ;; of the monotonic clock
    (i64.store (i32.const 40) (i64.const 10000000000))   ;; 10 s from now
    (drop (call $poll_oneoff (i32.const 16) (i32.const 512) (i32.const 1) (i32.const 8)))
"""


def repeat(times: int, body: str) -> str:
    """A loop over ``body``; needs the local ``$i``."""
    return f"""(local.set $i (i32.const 0))
      (loop $again {body}
        (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                                (i32.const {times}))))"""


def module(
    body: str, *, pages: int = 2, maximum: str = "", extra: str = "", start: str = ""
) -> str:
    """A guest that keeps the ABI; ``body`` is ``nova_run`` and leaves its exit code."""
    imports = []
    for name, kinds in SIGNATURES.items():
        result = "" if name == "proc_exit" else "(result i32)"
        imports.append(
            f'(import "wasi_snapshot_preview1" "{name}"'
            f" (func ${name} (param {' '.join(kinds)}) {result}))"
        )
    for name, (kinds, has_result) in NOVA_SIGNATURES.items():
        result = "(result i32)" if has_result else ""
        imports.append(
            f'(import "nova" "{name}" (func ${name} (param {" ".join(kinds)}) {result}))'
        )
    return f"""(module {" ".join(imports)}
      (memory (export "memory") {pages} {maximum})
      {extra}
      (func (export "nova_alloc") (param i32) (result i32) (i32.const {REQUEST_AT}))
      (func $nova_run (export "nova_run") (param $pointer i32) (param $length i32) (result i32)
        (local $i i32) (local $j i32) (local $k i32)
        {body})
      {start})"""


@dataclass
class Ran:
    """What became of one run."""

    code: int | None
    error: BaseException | None
    nova: NovaHost
    budget: MemoryBudget
    denied: DeniedLog
    output: list[tuple[Stream, bytes]] = field(default_factory=list)
    seconds: float = 0.0
    charged_before: int = 0
    """What files and descriptors cost before the guest began."""

    @property
    def ended(self) -> RunEnded:
        """Why the host ended the run; fails the test when it did not."""
        assert isinstance(self.error, RunEnded), self.error or self.code
        return self.error


_sharing = threading.RLock()
"""``functools.cache`` alone lets threads that come at once each make their own."""


@functools.cache
def shared_isolate() -> Isolate:
    return Isolate()


@functools.cache
def shared_scheduler() -> Scheduler:
    return Scheduler(8)


@functools.cache
def _compiled(text: str) -> CompiledGuest:
    return shared_isolate().compile(bytes(wat2wasm(text)))


def compiled(text: str) -> CompiledGuest:
    with _sharing:
        shared_scheduler()
        return _compiled(text)


def run(
    text: str,
    *,
    request: bytes = b"request",
    host_call: Callable[[bytes], bytes] | None = None,
    memory_bytes: int = 64 * MIB,
    timeout_s: float = 10.0,
    stop: Cancellation | None = None,
    budget: MemoryBudget | None = None,
    on_output: Callable[[Stream, bytes], None] | None = None,
) -> Ran:
    """Run ``text`` to its end; what was raised is returned, not raised."""
    guest = compiled(text)
    budget = budget or MemoryBudget(memory_bytes)
    stop = stop or Cancellation()
    control = RunControl(timeout_s, stop)
    denied = DeniedLog()
    nova = NovaHost(control=control, budget=budget, denied=denied, host_call=host_call)
    ran = Ran(None, None, nova, budget, denied)

    def keep(stream: Stream, data: bytes) -> None:
        ran.output.append((stream, data))
        if on_output is not None:
            on_output(stream, data)

    wasi = WasiHost(
        files=MemoryFileSystem(budget),
        arguments=("program",),
        environment={},
        stdin=None,
        output=keep,
        control=control,
        budget=budget,
        denied=denied,
        clock_resolution_ns=1000,
    )

    ran.charged_before = budget.charged

    def on_guest_thread(_queued_ns: int) -> None:
        control.start()
        try:
            ran.code = shared_isolate().run(guest, request, wasi, nova, budget)
        except BaseException as error:
            ran.error = error
        ran.seconds = control.timeout_s - control.left()
        shared_isolate().free_ended()

    shared_scheduler().execute(on_guest_thread, Cancellation())
    return ran


def write_dist(folder: Path, guest: str | bytes, files: dict[str, bytes] | None = None) -> Path:
    """A dist folder whose Python guest is this module."""
    wasm = bytes(wat2wasm(guest)) if isinstance(guest, str) else guest
    artefacts = {}
    for name, content in {"python.wasm": wasm, **(files or {})}.items():
        packed = zstandard.compress(content)
        (folder / f"{name}.zst").write_bytes(packed)
        artefacts[name] = {
            "file": f"{name}.zst",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "file_sha256": hashlib.sha256(packed).hexdigest(),
        }
    manifest = {"format": 1, "artefacts": artefacts}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def together(*targets: Callable[[], None]) -> None:
    """Run all at once, wait for all."""
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
