"""The snapshot maker, on modules small enough to be read."""

from __future__ import annotations

from pathlib import Path

import pytest
import wasmtime
from recipe.fixed_world import FIXED_TIME_NS
from recipe.snapshot import SnapshotError, read_signed, signed, take_snapshot

COUNTER = """
(module
  (memory (export "memory") 2 10)
  (global $stack (mut i32) (i32.const 4096))
  (global $count (mut i64) (i64.const 5))
  (data (i32.const 4096) "\\01\\00\\02")
  (func (export "nova_init")
    (i32.store (i32.const 100) (i32.const 77))
    (i32.store (i32.const 5000) (i32.const 42))
    (global.set $count (i64.const -7)))
  (func (export "count") (result i64) (global.get $count))
  (func (export "at") (param i32) (result i32) (i32.load (local.get 0))))
"""

WASI = """
(module
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "nova" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (global (mut i32) (i32.const 1024))
  (data (i32.const 1024) "\\01")
  (func (export "nova_init")
    (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 1032)))
    (drop (call $random (i32.const 1040) (i32.const 300))))
  (func (export "calls_host") (result i32)
    (call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (func (export "low") (result i64) (i64.load (i32.const 1032)))
  (func (export "byte") (result i32) (i32.load8_u (i32.const 1297))))
"""


def module(text: str) -> bytes:
    return bytes(wasmtime.wat2wasm(text))


class Instance:
    def __init__(self, binary: bytes) -> None:
        engine = wasmtime.Engine()
        compiled = wasmtime.Module(engine, binary)
        self.store = wasmtime.Store(engine)
        linker = wasmtime.Linker(engine)
        linker.define_unknown_imports_as_traps(compiled)
        self.exports = linker.instantiate(self.store, compiled).exports(self.store)

    def __call__(self, name: str, *arguments: int) -> object:
        function = self.exports[name]
        assert isinstance(function, wasmtime.Func)
        return function(self.store, *arguments)


def test_the_snapshot_starts_with_the_memory_and_the_globals_of_the_initialisation() -> None:
    snapshot = take_snapshot(module(COUNTER), init="nova_init", keep=("memory", "count", "at"))
    instance = Instance(snapshot.module)
    assert instance("at", 5000) == 42
    assert instance("at", 4096) == 0x0002_0001
    assert instance("count") == -7


def test_without_initialisation_the_original_has_neither() -> None:
    """The control of the test above."""
    instance = Instance(module(COUNTER))
    assert instance("at", 5000) == 0
    assert instance("count") == 5


def test_what_lies_on_the_dead_stack_is_cleared() -> None:
    snapshot = take_snapshot(module(COUNTER), init="nova_init", keep=("memory", "at"))
    assert Instance(snapshot.module)("at", 100) == 0


def test_only_the_named_exports_stay_and_nothing_can_be_initialised_again() -> None:
    snapshot = take_snapshot(module(COUNTER), init="nova_init", keep=("memory", "at"))
    assert set(Instance(snapshot.module).exports) == {"memory", "at"}


def test_the_image_is_one_segment_from_the_first_byte_to_the_last() -> None:
    snapshot = take_snapshot(module(COUNTER), init="nova_init", keep=("memory",))
    assert snapshot.span_bytes == 5001 - 4096


def test_two_snapshots_have_the_same_bytes_although_the_module_asks_for_time_and_entropy() -> None:
    first, second = (
        take_snapshot(module(WASI), init="nova_init", keep=("memory", "low", "byte"))
        for _ in range(2)
    )
    assert first == second
    instance = Instance(first.module)
    assert instance("low") == FIXED_TIME_NS
    assert instance("byte") == 1, "entropy came, in the fixed order: byte 257 of it"


def test_a_call_to_the_host_while_it_is_initialised_is_refused() -> None:
    with pytest.raises(SnapshotError, match="calls_host failed"):
        take_snapshot(module(WASI), init="calls_host", keep=("memory",))


def test_the_initialisation_sees_the_folder_and_cannot_write_to_it(tmp_path: Path) -> None:
    writes = """
    (module
      (import "wasi_snapshot_preview1" "path_open" (func $open
        (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (global (mut i32) (i32.const 1024))
      (data (i32.const 1024) "name")
      (func (export "nova_init")
        (if (i32.eqz (call $open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 4)
              (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 1040)))
          (then (call $exit (i32.const 3)))))
      (func (export "reads")
        (if (call $open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 4)
              (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 1040))
          (then (call $exit (i32.const 4))))))
    """
    take_snapshot(module(writes), init="nova_init", keep=("memory",), root=tmp_path)
    assert not (tmp_path / "name").exists()
    with pytest.raises(SnapshotError):
        take_snapshot(module(writes), init="reads", keep=("memory",), root=tmp_path)
    (tmp_path / "name").write_text("here")
    take_snapshot(module(writes), init="reads", keep=("memory",), root=tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('(module (memory (export "memory") 1) (start 0) (func (export "nova_init")))', "start"),
        ('(module (memory (export "memory") 1))', "no function nova_init"),
        ('(module (func (export "nova_init")))', "no memory"),
        (
            '(module (memory (export "memory") 1) (global (mut f64) (f64.const 0))'
            ' (func (export "nova_init")))',
            "integer globals",
        ),
        (
            '(module (memory (export "memory") 1) (global (mut i32) (i32.const 9))'
            ' (data (i32.const 4) "x") (func (export "nova_init")))',
            "stack",
        ),
        (
            '(module (memory (export "memory") 1) (data "passive") (func (export "nova_init")))',
            "passive",
        ),
        ('(module (memory (export "memory") 1) (func (export "nova_init") unreachable))', "failed"),
        (
            '(module (memory (export "memory") 4) (func (export "nova_init")'
            " (i32.store (i32.const 4) (i32.const 1))"
            " (i32.store (i32.const 200000) (i32.const 1))))",
            "in use",
        ),
    ],
)
def test_a_module_of_another_shape_is_refused(text: str, reason: str) -> None:
    with pytest.raises(SnapshotError, match=reason):
        take_snapshot(module(text), init="nova_init", keep=("memory",))


@pytest.mark.parametrize("value", [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31), -(2**63)])
def test_signed_numbers_are_read_as_they_were_written(value: int) -> None:
    assert read_signed(signed(value), 0) == (value, len(signed(value)))
