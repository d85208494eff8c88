"""Runs a guest's initialisation once and writes a module that starts with the memory it left.

What initialisation sees never varies (``fixed_world``). The result keeps code and imports as they
were; memory, globals and exports are rewritten:

- the memory becomes **one** data segment from the first byte that is not zero to the last, since
  wasmtime maps an image copy-on-write only if it is compact (a span below 16 MiB, or less than
  twice the data), and copies it for each instance otherwise;
- the shadow stack is dead when initialisation has returned and is cleared;
- every mutable global gets its present value as its initial value (the stack pointer is one);
- only the exports that the host uses stay, so that nothing can be initialised again.

Reference: WebAssembly core specification, section 5.5 (binary format of modules).
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import wasmtime
from wasmtime import _bindings as bindings  # the one setter that Config lacks

from recipe.fixed_world import FixedWorld, read_tree

GLOBAL_EXPORT = "nova_snapshot_global_{}"
PAGE_BYTES = 65536
STACK_LIMIT_BYTES = 16 << 20

TYPE_SECTION, IMPORT_SECTION, TABLE_SECTION, MEMORY_SECTION = 1, 2, 4, 5
CUSTOM_SECTION, GLOBAL_SECTION, EXPORT_SECTION, START_SECTION = 0, 6, 7, 8
DATA_SECTION, DATA_COUNT_SECTION = 11, 12
I32, I64 = 0x7F, 0x7E
I32_CONST, I64_CONST, END = 0x41, 0x42, 0x0B
EXPORT_GLOBAL = 3

MAX_ZERO_SHARE = 0.5
"""An image that is mostly zero pages would waste disk and show a broken layout."""


class SnapshotError(Exception):
    """The module is not of the shape this maker handles, or its initialisation failed."""


@dataclass(frozen=True)
class Snapshot:
    module: bytes
    span_bytes: int
    """From the first byte of the image to the last."""
    data_bytes: int
    """Bytes of the 4 KiB pages that hold anything; the rest is zero."""


# --- LEB128 ---------------------------------------------------------------------------------


def read_unsigned(data: bytes, offset: int) -> tuple[int, int]:
    """Value and the offset after it."""
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, offset


def read_signed(data: bytes, offset: int) -> tuple[int, int]:
    start = offset
    value, offset = read_unsigned(data, offset)
    bits = 7 * (offset - start)
    return (value - (1 << bits) if value >> (bits - 1) else value), offset


def unsigned(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


# --- the module as sections -----------------------------------------------------------------


def read_sections(module: bytes) -> list[tuple[int, bytes]]:
    if module[:8] != b"\0asm\1\0\0\0":
        raise SnapshotError("not a WebAssembly module of version 1")
    sections = []
    offset = 8
    while offset < len(module):
        kind = module[offset]
        size, start = read_unsigned(module, offset + 1)
        offset = start + size
        sections.append((kind, module[start:offset]))
    return sections


def write_sections(sections: list[tuple[int, bytes]]) -> bytes:
    out = bytearray(b"\0asm\1\0\0\0")
    for kind, body in sections:
        out.append(kind)
        out += unsigned(len(body)) + body
    return bytes(out)


def replace_section(
    sections: list[tuple[int, bytes]], kind: int, body: bytes
) -> list[tuple[int, bytes]]:
    return [(k, body if k == kind else b) for k, b in sections]


def section(sections: list[tuple[int, bytes]], kind: int) -> bytes:
    return next((body for k, body in sections if k == kind), b"\0")


@dataclass(frozen=True)
class Global:
    value_type: int
    mutable: bool
    value: int

    def encoded(self) -> bytes:
        operation, wrap = {I32: (I32_CONST, 1 << 31), I64: (I64_CONST, 1 << 63)}[self.value_type]
        value = (self.value + wrap) % (2 * wrap) - wrap
        head = bytes([self.value_type, self.mutable, operation])
        return head + signed(value) + bytes([END])


def read_globals(body: bytes) -> list[Global]:
    """Raises:
    SnapshotError: a global is not an integer with a constant value.
    """
    count, offset = read_unsigned(body, 0)
    result = []
    for _ in range(count):
        value_type, mutable, operation = body[offset : offset + 3]
        if (value_type, operation) not in ((I32, I32_CONST), (I64, I64_CONST)):
            raise SnapshotError("only integer globals with constant values are handled")
        value, offset = read_signed(body, offset + 3)
        if body[offset] != END:
            raise SnapshotError("only constant initial values of globals are handled")
        offset += 1
        result.append(Global(value_type, bool(mutable), value))
    return result


def _read_exports(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and the encoded entry."""
    count, offset = read_unsigned(body, 0)
    for _ in range(count):
        start = offset
        length, offset = read_unsigned(body, offset)
        name = body[offset : offset + length].decode()
        offset += length + 1
        _, offset = read_unsigned(body, offset)
        yield name, body[start:offset]


def _vector(entries: Collection[bytes]) -> bytes:
    return unsigned(len(entries)) + b"".join(entries)


def _data_start(body: bytes) -> int:
    """The lowest address that a data segment of the original module writes to."""
    count, offset = read_unsigned(body, 0)
    lowest = 1 << 32
    for _ in range(count):
        flags, offset = read_unsigned(body, offset)
        if flags != 0 or body[offset] != I32_CONST:
            raise SnapshotError("passive data segments and computed addresses are not handled")
        address, offset = read_signed(body, offset + 1)
        if body[offset] != END:
            raise SnapshotError("data segments with computed addresses are not handled")
        size, offset = read_unsigned(body, offset + 1)
        offset += size
        lowest = min(lowest, address % (1 << 32))
    return lowest


# --- running the initialisation -------------------------------------------------------------


def _export_mutable_globals(sections: list[tuple[int, bytes]]) -> bytes:
    """The module with each mutable global exported, so that its last value can be read."""
    exports = [entry for _, entry in _read_exports(section(sections, EXPORT_SECTION))]
    for index, variable in enumerate(read_globals(section(sections, GLOBAL_SECTION))):
        if variable.mutable:
            name = GLOBAL_EXPORT.format(index).encode()
            exports.append(unsigned(len(name)) + name + bytes([EXPORT_GLOBAL]) + unsigned(index))
    return write_sections(replace_section(sections, EXPORT_SECTION, _vector(exports)))


def new_engine(*, optimise: bool) -> wasmtime.Engine:
    """An engine whose guests may use as much stack as they were linked with."""
    config = wasmtime.Config()
    # libwasmtime aborts the process if the wasm stack were larger than the async stack.
    bindings.wasmtime_config_async_stack_size_set(config.ptr(), 2 * STACK_LIMIT_BYTES)
    config.max_wasm_stack = STACK_LIMIT_BYTES
    if not optimise:
        config.cranelift_opt_level = "none"
    return wasmtime.Engine(config)


def _initialise(module_bytes: bytes, init: str, root: Path | None) -> tuple[bytes, dict[str, int]]:
    """The memory and the values of the exported globals after initialisation."""
    engine = new_engine(optimise=False)  # it runs once
    module = wasmtime.Module(engine, module_bytes)
    store = wasmtime.Store(engine)
    world = FixedWorld(read_tree(root))
    linker = wasmtime.Linker(engine)
    world.define(linker)
    linker.define_unknown_imports_as_traps(module)
    exports = linker.instantiate(store, module).exports(store)
    memory = exports.get("memory")
    if not isinstance(memory, wasmtime.Memory):
        raise SnapshotError("the module exports no memory")
    world.memory, world.store = memory, store
    try:
        for name in ("_initialize", init):
            function = exports.get(name)
            if isinstance(function, wasmtime.Func):
                function(store)
            elif name == init:
                raise SnapshotError(f"the module exports no function {init}")
    except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
        raise SnapshotError(f"{init} failed: {error}") from error
    image = ctypes.string_at(
        ctypes.addressof(memory.data_ptr(store).contents), memory.data_len(store)
    )
    values = {
        name: item.value(store)
        for name, item in exports.items()
        if isinstance(item, wasmtime.Global)
    }
    return image, values


# --- writing the snapshot -------------------------------------------------------------------


def _trimmed_exports(body: bytes, keep: Collection[str]) -> bytes:
    kept = [(name, entry) for name, entry in _read_exports(body) if name in keep]
    missing = set(keep) - {name for name, _ in kept}
    if missing:
        raise SnapshotError(f"the module does not export {', '.join(sorted(missing))}")
    return _vector([entry for _, entry in kept])


def _memory_section(body: bytes, pages: int) -> bytes:
    count, offset = read_unsigned(body, 0)
    if count != 1:
        raise SnapshotError("exactly one memory is expected")
    flags = body[offset]
    _, end = read_unsigned(body, offset + 1)
    return unsigned(1) + bytes([flags]) + unsigned(pages) + body[end:]


def _occupied_bytes(image: bytes, page: int = 4096) -> int:
    empty = bytes(page)
    return sum(
        page
        for start in range(0, len(image), page)
        if image[start : start + page] != empty[: len(image) - start]
    )


def take_snapshot(
    module: bytes, *, init: str, keep: Collection[str], root: Path | None = None
) -> Snapshot:
    """Initialise ``module`` by calling its export ``init`` and keep what that left.

    Args:
        module: a WASI reactor with one memory, linked with its stack first.
        init: name of the initialising export, without parameters and results.
        keep: names of the exports that the snapshot has.
        root: folder that the initialisation sees as ``/``, read-only.

    Raises:
        SnapshotError: initialisation failed, or the module is of another shape.
    """
    sections = [(kind, body) for kind, body in read_sections(module) if kind != CUSTOM_SECTION]
    if any(kind == START_SECTION for kind, _ in sections):
        raise SnapshotError("modules with a start function are not handled")
    variables = read_globals(section(sections, GLOBAL_SECTION))
    image, values = _initialise(_export_mutable_globals(sections), init, root)

    variables = [
        Global(v.value_type, True, values[GLOBAL_EXPORT.format(i)]) if v.mutable else v
        for i, v in enumerate(variables)
    ]
    stack_end = _data_start(section(sections, DATA_SECTION))
    stack_pointer = next((v.value for v in variables if v.mutable), 0)
    if stack_pointer > stack_end:
        raise SnapshotError("the shadow stack is expected below the data (--stack-first)")
    # Below the stack pointer lie only the remains of frames that have returned.
    data = image[stack_pointer:].rstrip(b"\0")
    start = stack_pointer + len(data) - len(data.lstrip(b"\0"))
    data = data.lstrip(b"\0")
    occupied = _occupied_bytes(data)
    if occupied < len(data) * MAX_ZERO_SHARE:
        raise SnapshotError(f"only {occupied} of {len(data)} bytes of the image are in use")

    address = start - (1 << 32) if start >= 1 << 31 else start
    segment = bytes([0, I32_CONST]) + signed(address) + bytes([END]) + unsigned(len(data)) + data
    sections = replace_section(sections, DATA_SECTION, _vector([segment]))
    sections = replace_section(sections, DATA_COUNT_SECTION, unsigned(1))
    sections = replace_section(
        sections, GLOBAL_SECTION, _vector([variable.encoded() for variable in variables])
    )
    sections = replace_section(
        sections, EXPORT_SECTION, _trimmed_exports(section(sections, EXPORT_SECTION), keep)
    )
    memory = _memory_section(section(sections, MEMORY_SECTION), len(image) // PAGE_BYTES)
    sections = replace_section(sections, MEMORY_SECTION, memory)
    return Snapshot(write_sections(sections), len(data), occupied)
