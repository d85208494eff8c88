"""The profile that guides CPython's optimisation: made on demand, then committed.

An instrumented guest runs ``python/profile/training.py``; the counters are read from its memory
and written in LLVM's text form, which ``llvm-profdata`` turns into the form that clang reads.
Ordinary builds only read that file, so they need no training and give the same bytes.

Reference: LLVM's "Instrumentation Profile Format"; layout of ``__llvm_profile_data`` in
``InstrProfData.inc`` of the clang inside the pinned ziglang.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recipe.cpython import PROFILE
from recipe.toolchain import GUEST_DIRECTORY, BuildError, Toolchain

TRAINING_PROGRAM = GUEST_DIRECTORY / "python" / "profile" / "training.py"
TRAINING_EXPORTS = ("profile_address", "profile_reset")
MERGE_TOOLS = ("llvm-profdata-19", "llvm-profdata-20", "llvm-profdata")
"""The profile's format is older than clang 22: any of these writes one that it reads."""

RECORD = struct.Struct("<QQIIIIIHHH2xI")
"""Name hash, function hash, counters (relative), bitmap, function, values, number of counters,
numbers of value sites of three kinds (the first: indirect calls), bitmap bytes."""

CALL = struct.Struct("<IIII")
MAX_TARGETS = 8


@dataclass(frozen=True)
class Image:
    """The guest's memory after the training, and where things lie in it."""

    memory: bytes
    records: tuple[int, int]
    counters: tuple[int, int]
    names: tuple[int, int]
    calls: tuple[int, int]


def merge_tool() -> str:
    for name in MERGE_TOOLS:
        if shutil.which(name):
            return name
    raise BuildError("training needs llvm-profdata (Debian: apt-get install llvm-19)")


def train(toolchain: Toolchain, instrumented: bytes, root: Path) -> None:
    """Run the training program and replace the committed profile.

    Args:
        instrumented: snapshot of the guest of the training variant.
        root: folder that the guest sees as ``/``.
    """
    tool = merge_tool()
    text = toolchain.work / "out" / "training.proftext"
    text.write_bytes(b"\n".join(_text_profile(_run(instrumented, root))))
    PROFILE.parent.mkdir(exist_ok=True)
    # Not --sparse: functions that never ran must be known to be cold, or all of them would be
    # optimised and inlined as if they were hot, and linking takes ten times as long.
    toolchain.run([tool, "merge", "-o", PROFILE, text])
    print(f"  {PROFILE.name}: {PROFILE.stat().st_size:,} bytes")


def _run(instrumented: bytes, root: Path) -> Image:
    import wasmtime

    from recipe.snapshot import new_engine

    engine = new_engine(optimise=True)
    module = wasmtime.Module(engine, instrumented)
    store = wasmtime.Store(engine)
    wasi = wasmtime.WasiConfig()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.preopen_dir(str(root), "/")
    store.set_wasi(wasi)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    linker.define_unknown_imports_as_traps(module)
    exports = linker.instantiate(store, module).exports(store)

    def call(name: str, *arguments: int) -> int:
        function = exports[name]
        assert isinstance(function, wasmtime.Func)
        result = function(store, *arguments)
        return result % (1 << 32) if isinstance(result, int) else 0

    memory = exports["memory"]
    assert isinstance(memory, wasmtime.Memory)
    request = _request(TRAINING_PROGRAM.read_bytes())
    call("profile_reset")
    pointer = call("nova_alloc", len(request))
    memory.write(store, request, pointer)
    status = call("nova_run", pointer, len(request))
    if status != 0:
        raise BuildError(f"the training program ended with status {status}")
    ends = [call("profile_address", index) for index in range(8)]
    image = bytes(memory.read(store, 0, memory.data_len(store)))
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    return Image(image, *pairs)


def _request(source: bytes) -> bytes:
    header = json.dumps(
        {
            "name": "training.py",
            "entry": None,
            "argv": ["training.py"],
            "tz": "UTC",
            "source_bytes": len(source),
            "tzif_bytes": 0,
            "stdin": False,
            "work_empty": True,
        }
    ).encode()
    return struct.pack("<I", len(header)) + header + source


def _names(image: Image) -> dict[int, bytes]:
    """Hash to name of each instrumented function."""
    names = {}
    offset, end = image.names
    while offset < end:
        if image.memory[offset] == 0:  # padding between objects
            offset += 1
            continue
        size, offset = _uleb(image.memory, offset)
        packed, offset = _uleb(image.memory, offset)
        chunk = image.memory[offset : offset + (packed or size)]
        offset += len(chunk)
        for name in (zlib.decompress(chunk) if packed else chunk).split(b"\1"):
            names[int.from_bytes(hashlib.md5(name).digest()[:8], "little")] = name  # noqa: S324
    return names


def _uleb(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        value |= (byte & 0x7F) << shift
        offset, shift = offset + 1, shift + 7
        if byte < 0x80:
            return value, offset


def _text_profile(image: Image) -> Iterator[bytes]:
    names = _names(image)
    records = [
        (address, RECORD.unpack_from(image.memory, address))
        for address in range(image.records[0], image.records[1], RECORD.size)
    ]
    functions = {fields[4]: names[fields[0]] for _, fields in records if fields[0] in names}
    targets = _call_targets(image, functions)
    yield b":ir"
    for address, (name, function_hash, relative, _, _, _, count, sites, _, _, _) in records:
        counters = (address + relative) % (1 << 32)
        if name not in names or not image.counters[0] <= counters < image.counters[1]:
            continue
        values = struct.unpack_from(f"<{count}Q", image.memory, counters)
        yield names[name]
        yield from (b"%d" % number for number in (function_hash, count, *values))
        if sites:
            yield from (b"%d" % number for number in (1, 0, sites))  # one kind: indirect calls
            for site in range(sites):
                found = targets[address, site]
                yield b"%d" % len(found)
                yield from (b"%s:%d" % (target, times) for times, target in found)
        yield b""


def _call_targets(
    image: Image, functions: dict[int, bytes]
) -> dict[tuple[int, int], list[tuple[int, bytes]]]:
    """Most frequent targets of each indirect call, by record address and site."""
    found: dict[tuple[int, int], list[tuple[int, bytes]]] = defaultdict(list)
    for address in range(*image.calls, CALL.size):
        record, site, target, count = CALL.unpack_from(image.memory, address)
        if record and target in functions:
            found[record, site].append((count, functions[target]))
    for targets in found.values():
        targets.sort(reverse=True)
        del targets[MAX_TARGETS:]
    return found
