"""Each limit of an isolate, next to the same module under a limit that it keeps."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import wasmtime
from wasmtime import wat2wasm

from nova_desktop.model import MIB, Limits, RuntimeUnavailable, Status
from nova_desktop.sandbox.wasm import isolate
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.endings import ending_of
from nova_desktop.sandbox.wasm.isolate import GuestTrapped
from tests.unit.sandbox.wasm import wat

PAGE = 65536
GROW_10 = wat.module("(memory.grow (i32.const 10))")
FAILED_TO_GROW = 0xFFFF_FFFF

pytestmark = pytest.mark.security


def test_memory_grows_as_far_as_the_budget_has_room() -> None:
    enough = wat.run(GROW_10, memory_bytes=12 * PAGE + 4096)
    assert enough.code == 2
    short = wat.run(GROW_10, memory_bytes=12 * PAGE - 1)
    assert short.code == FAILED_TO_GROW


def test_what_the_host_holds_takes_from_the_guests_memory_in_mid_run() -> None:
    body = """(local.set $i (memory.grow (i32.const 1)))
      (drop (call $call (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0)))
      (local.set $j (memory.grow (i32.const 1)))
      (call $take (i32.const 0) (i32.const 100000))
      (local.set $k (memory.grow (i32.const 1)))
      (i32.or (i32.or (i32.shl (i32.eq (local.get $i) (i32.const -1)) (i32.const 2))
                      (i32.shl (i32.eq (local.get $j) (i32.const -1)) (i32.const 1)))
              (i32.eq (local.get $k) (i32.const -1)))"""
    ran = wat.run(wat.module(body), host_call=lambda request: b"x" * 100_000, memory_bytes=5 * PAGE)
    # The second growth alone fails: 3 pages, the pending reply and one page more are too much.
    assert ran.code == 0b010
    roomy = wat.run(wat.module(body), host_call=lambda request: b"x" * 100_000)
    assert roomy.code == 0


def test_guest_memory_takes_from_what_the_host_may_hold() -> None:
    body = """(drop (memory.grow (i32.const 10)))
      (call $call (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0))"""
    for memory, fits in ((15 * PAGE, True), (13 * PAGE, False)):
        ran = wat.run(
            wat.module(body), host_call=lambda request: b"x" * 100_000, memory_bytes=memory
        )
        assert (ran.code == 100_000) is fits
        assert ran.budget.exceeded is not fits


def test_snapshot_larger_than_the_limit_does_not_start() -> None:
    text = wat.module("(i32.const 7)", pages=100)
    assert wat.run(text, memory_bytes=101 * PAGE).code == 7
    ran = wat.run(text, memory_bytes=99 * PAGE)
    assert ran.ended.status is Status.OUT_OF_MEMORY


def test_table_grows_no_further_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = "(table.grow 0 (ref.null func) (i32.const 39999))"
    text = wat.module(grow, extra="(table 1 funcref)")
    assert wat.run(text).code == FAILED_TO_GROW
    monkeypatch.setattr(isolate, "MAX_TABLE_ELEMENTS", 40_000)
    assert wat.run(text).code == 1


def test_guest_with_more_than_one_table_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    text = wat.module("(i32.const 7)", extra="(table 1 funcref) (table 1 funcref)")
    ran = wat.run(text)
    assert isinstance(ran.error, RuntimeUnavailable)
    assert "table count" in ran.error.message
    monkeypatch.setattr(isolate, "MAX_TABLES", 2)
    assert wat.run(text).code == 7


@pytest.mark.parametrize("limit", ["MAX_INSTANCES", "MAX_MEMORIES"])
def test_instances_and_memories_are_counted(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = wat.module("(i32.const 7)")
    assert wat.run(text).code == 7
    monkeypatch.setattr(isolate, limit, 0)
    assert wat.run(text).error is not None


UNWANTED = {
    "multi_memory": "(module (memory 1) (memory 1))",
    "memory64": "(module (memory i64 1))",
    "threads": "(module (func (result i32) (i32.atomic.load (i32.const 0))) (memory 1))",
    "exceptions": "(module (tag))",
    "gc": "(module (type (struct (field i32))))",
    "tail_call": "(module (func $f (return_call $f)))",
    "relaxed_simd": """(module (func (param v128) (result v128)
      (f32x4.relaxed_min (local.get 0) (local.get 0))))""",
}


@pytest.mark.parametrize("feature", UNWANTED)
def test_wasm_that_the_guests_do_not_need_is_refused(feature: str) -> None:
    wasm = bytes(wat2wasm(UNWANTED[feature]))
    with pytest.raises(RuntimeUnavailable, match="cannot be loaded"):
        wat.shared_isolate().compile(wasm)


@pytest.mark.parametrize("feature", UNWANTED)
def test_control_an_engine_with_that_feature_takes_it(feature: str) -> None:
    config = wasmtime.Config()
    config.wasm_function_references = True  # what garbage collection builds upon
    setattr(config, f"wasm_{feature}", True)
    wasmtime.Module(wasmtime.Engine(config), UNWANTED[feature])


def test_import_with_another_signature_is_refused() -> None:
    text = '(module (import "nova" "take" (func (param i32))))'
    with pytest.raises(RuntimeUnavailable, match="take"):
        wat.shared_isolate().compile(bytes(wat2wasm(text)))


def test_unknown_import_is_refused() -> None:
    text = '(module (import "env" "system" (func (param i32))))'
    with pytest.raises(RuntimeUnavailable, match="system"):
        wat.shared_isolate().compile(bytes(wat2wasm(text)))


@pytest.mark.parametrize("junk", [b"", b"\0asm\x01\0\0\0\xff", b"not wasm"], ids=repr)
def test_bytes_that_are_no_module_are_refused(junk: bytes) -> None:
    with pytest.raises(RuntimeUnavailable, match="cannot be loaded"):
        wat.shared_isolate().compile(junk)


def test_guest_without_the_agreed_exports_is_refused() -> None:
    ran = wat.run('(module (memory (export "memory") 1))')
    assert isinstance(ran.error, RuntimeUnavailable)
    assert "nova_alloc" in ran.error.message


@pytest.mark.parametrize(
    "signature",
    ["(param i64) (result i32)", "(param i32 i32) (result i32)", "(param i32)"],
)
def test_export_of_another_type_is_not_called(signature: str) -> None:
    result = "(i32.const 0)" if "result" in signature else ""
    text = f"""(module (memory (export "memory") 1)
      (func (export "nova_alloc") {signature} {result})
      (func (export "nova_run") (param i32 i32) (result i32) (i32.const 0)))"""
    ran = wat.run(text)
    assert isinstance(ran.error, RuntimeUnavailable)
    assert ran.error.code == "runtime.guest_refused"


def test_result_of_another_type_is_not_read() -> None:
    ran = wat.run(
        """(module (memory (export "memory") 1)
      (func (export "nova_alloc") (param i32) (result i64) (i64.const 64))
      (func (export "nova_run") (param i32 i32) (result i32) (i32.const 0)))"""
    )
    assert isinstance(ran.error, RuntimeUnavailable)
    assert "no i32" in ran.error.message


def test_endless_recursion_is_an_ending_not_a_crash() -> None:
    recurse = "(call $nova_run (local.get $pointer) (local.get $length))"
    ran = wat.run(wat.module(f"(i32.add (i32.const 1) {recurse})"))
    assert isinstance(ran.error, GuestTrapped)
    assert ran.error.stack_exhausted
    assert wat.run(wat.module("(i32.const 7)")).code == 7


def test_host_function_at_the_guests_deepest_recursion_has_room() -> None:
    """A host call where 8 MiB of the stack are nearly used: Python's own frames must fit."""
    body = """(drop (call $random_get (i32.const 0) (i32.const 8)))
      (i32.add (i32.const 1) (call $nova_run (local.get $pointer) (local.get $length)))"""
    ran = wat.run(wat.module(body), timeout_s=60)
    assert isinstance(ran.error, GuestTrapped)
    assert ran.error.stack_exhausted


def test_control_the_same_recursion_on_a_small_stack_crashes_the_process() -> None:
    """Why the stack of each guest thread is checked."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only on Linux: what a stack overflow does is the system's own")
    program = """
import threading
from nova_desktop.sandbox.wasm import scheduler
scheduler.THREAD_STACK_BYTES = 2 << 20
scheduler._stack_fault = lambda: None
from tests.unit.sandbox.wasm import wat
ran = wat.run(wat.module("(i32.add (i32.const 1) (call $nova_run (i32.const 0) (i32.const 0)))"))
print("survived")
"""
    root = Path(__file__).parents[4]
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode < 0
    assert b"survived" not in ended.stdout


def test_trap_of_the_guests_own_is_told_from_the_hosts() -> None:
    for body in ("(unreachable)", "(i32.div_u (i32.const 1) (local.get $i))"):
        ran = wat.run(wat.module(body))
        assert isinstance(ran.error, GuestTrapped)
        assert not ran.error.stack_exhausted


def test_overflow_of_the_guests_own_stack_counts_as_exhausted() -> None:
    ran = wat.run(wat.module("(i32.load (i32.sub (local.get $i) (i32.const 16)))"))
    assert isinstance(ran.error, GuestTrapped)
    assert ran.error.stack_exhausted
    other = wat.run(wat.module("(i32.load (i32.const 0x7000000))"))
    assert isinstance(other.error, GuestTrapped)
    assert not other.error.stack_exhausted


def test_nothing_is_left_for_the_next_run() -> None:
    body = """(local.set $i (i32.load (i32.const 8)))
      (i32.store (i32.const 8) (i32.const 42))
      (drop (memory.grow (i32.const 1)))
      (i32.add (local.get $i) (memory.size))"""
    assert [wat.run(wat.module(body)).code for _ in range(3)] == [3, 3, 3]


def _rss_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only on Linux: reads /proc")
def test_runs_leave_no_descriptor_thread_or_memory_behind() -> None:
    """Each touches 4 MiB of its memory, so 200 runs that leaked would show as 800 MiB."""
    text = wat.module(
        "(memory.fill (i32.const 0) (i32.const 1) (i32.const 4194304)) (i32.const 0)", pages=80
    )
    trapping = wat.module("(call $proc_exit (i32.const 3)) (unreachable)")

    def batch(runs: int) -> None:
        for _ in range(runs):
            assert wat.run(text).code == 0
            assert wat.run(trapping).error is not None

    batch(10)
    gc.collect()
    before = (_rss_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count())
    gc.disable()  # nothing may depend on the collector of cycles
    try:
        batch(100)
        after = (_rss_bytes(), len(os.listdir("/proc/self/fd")), threading.active_count())
    finally:
        gc.enable()
    assert after[0] - before[0] < 10 * MIB
    assert after[1:] == before[1:]


def test_serialized_guest_runs_like_the_compiled_one() -> None:
    engine = wat.shared_isolate()
    guest = wat.compiled(wat.module("(i32.const 7)"))
    again = engine.load(engine.serialize(guest))
    assert again.module != guest.module


def test_serialized_bytes_of_another_kind_are_refused() -> None:
    with pytest.raises(RuntimeUnavailable):
        wat.shared_isolate().load(b"\x7fELF not really")


def test_budget_is_let_go_of_after_the_run() -> None:
    budget = MemoryBudget(4 * MIB)
    ran = wat.run(GROW_10, budget=budget)
    assert ran.code == 2
    budget.charge(4 * MIB - ran.charged_before)  # no guest memory counts any more
    budget.release(4 * MIB - ran.charged_before)


def test_exhausted_stack_is_a_limit_in_the_result() -> None:
    recurse = "(call $nova_run (local.get $pointer) (local.get $length))"
    ran = wat.run(wat.module(f"(i32.add (i32.const 1) {recurse})"))
    assert ran.error is not None
    ending = ending_of(ran.error, report=None, budget=ran.budget, limits=Limits())
    assert ending.status is Status.LIMIT
    assert ending.error is not None
    assert ending.error.code == "run.stack_exhausted"


def test_many_traps_are_cheap() -> None:
    """A backtrace is taken for each trap; at full recursion depth it must not cost seconds."""
    recurse = "(call $nova_run (local.get $pointer) (local.get $length))"
    text = wat.module(f"(i32.add (i32.const 1) {recurse})")
    wat.run(text)
    started = time.monotonic()
    wat.run(text)
    assert time.monotonic() - started < 1.0
