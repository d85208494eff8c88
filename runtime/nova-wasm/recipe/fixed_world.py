"""The world in which a guest is initialised: WASI whose answers never vary.

A folder read into memory, seen read-only as ``/``; a clock that stands still; the same entropy
each time; no environment and no arguments. File status has no times and numbers files in order
of their names: what a guest sees of these stays in its memory, in freed blocks if nowhere else,
and would make each snapshot another one.

Only the functions that initialisation needs exist; any other import is a trap.
Reference: WASI preview 1 (wasi_snapshot_preview1.witx).
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import wasmtime

FIXED_TIME_NS = 1_700_000_000 * 10**9
MODULE = "wasi_snapshot_preview1"

SUCCESS, BADF, FAULT, INVAL, ISDIR, NOENT, NOTDIR, ROFS = 0, 8, 21, 28, 31, 44, 54, 69
CHARACTER_DEVICE, DIRECTORY, REGULAR_FILE = 2, 3, 4
OFLAGS_CREAT, OFLAGS_DIRECTORY = 1, 2
RIGHTS_FD_WRITE = 1 << 6
ALL_RIGHTS = (1 << 30) - 1
ROOT_DESCRIPTOR = 3

FDSTAT = struct.Struct("<BxHxxxxQQ")
FILESTAT = struct.Struct("<QQB7xQQQQQ")
DIRENT = struct.Struct("<QQIB3x")

PARAMETERS = {
    "args_get": "ii",
    "args_sizes_get": "ii",
    "clock_res_get": "ii",
    "clock_time_get": "iIi",
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "fd_close": "i",
    "fd_fdstat_get": "ii",
    "fd_filestat_get": "ii",
    "fd_prestat_dir_name": "iii",
    "fd_prestat_get": "ii",
    "fd_read": "iiii",
    "fd_readdir": "iiiIi",
    "fd_seek": "iIii",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_filestat_get": "iiiii",
    "path_open": "iiiiiIIii",
    "poll_oneoff": "iiii",
    "random_get": "ii",
}
"""Function to its parameters: i for i32, I for i64. All return an errno."""


class Fault(Exception):
    """The guest's pointer lies outside its memory."""


@dataclass
class Node:
    number: int
    content: bytes = b""
    children: dict[str, Node] | None = None

    @property
    def kind(self) -> int:
        return REGULAR_FILE if self.children is None else DIRECTORY

    def status(self) -> bytes:
        return FILESTAT.pack(0, self.number, self.kind, 1, len(self.content), 0, 0, 0)


@dataclass
class Open:
    node: Node
    position: int = 0


def read_tree(folder: Path | None) -> Node:
    """The folder in memory; no folder is an empty one."""
    count = 0

    def read(path: Path | None) -> Node:
        nonlocal count
        count += 1
        node = Node(count)
        if path is not None and path.is_file():
            node.content = path.read_bytes()
        else:
            entries = sorted(path.iterdir()) if path else []
            node.children = {entry.name: read(entry) for entry in entries}
        return node

    return read(folder)


@dataclass
class FixedWorld:
    root: Node
    memory: wasmtime.Memory | None = None
    store: wasmtime.Store | None = None
    opened: dict[int, Open] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.opened[ROOT_DESCRIPTOR] = Open(self.root)

    def define(self, linker: wasmtime.Linker) -> None:
        types = {"i": wasmtime.ValType.i32(), "I": wasmtime.ValType.i64()}
        for name, parameters in PARAMETERS.items():
            kind = wasmtime.FuncType([types[p] for p in parameters], [types["i"]])
            linker.define_func(MODULE, name, kind, self._guarded(getattr(self, name), parameters))

    def _guarded(self, function: Callable[..., int], parameters: str) -> Callable[..., int]:
        def call(*arguments: int) -> int:
            sizes = (1 << 32 if parameter == "i" else 1 << 64 for parameter in parameters)
            try:
                return function(*(a % size for a, size in zip(arguments, sizes, strict=True)))
            except Fault:
                return FAULT

        return call

    # --- guest memory ---

    def _bounded(self, pointer: int, length: int) -> wasmtime.Memory:
        if self.memory is None or self.store is None:
            raise Fault
        if pointer + length > self.memory.data_len(self.store):
            raise Fault
        return self.memory

    def _read(self, pointer: int, length: int) -> bytes:
        memory = self._bounded(pointer, length)
        return bytes(memory.read(self.store, pointer, pointer + length))  # type: ignore[arg-type]

    def _write(self, pointer: int, data: bytes) -> int:
        memory = self._bounded(pointer, len(data))
        memory.write(self.store, data, pointer)  # type: ignore[arg-type]
        return SUCCESS

    def _write_u32(self, pointer: int, value: int) -> int:
        return self._write(pointer, value.to_bytes(4, "little"))

    def _write_u64(self, pointer: int, value: int) -> int:
        return self._write(pointer, value.to_bytes(8, "little"))

    def _vectors(self, pointer: int, count: int) -> list[tuple[int, int]]:
        return list(struct.iter_unpack("<II", self._read(pointer, 8 * count)))

    # --- environment, clocks, entropy ---

    def args_sizes_get(self, count: int, size: int) -> int:
        return self._write_u32(count, 0) or self._write_u32(size, 0)

    def args_get(self, _entries: int, _buffer: int) -> int:
        return SUCCESS

    environ_sizes_get = args_sizes_get
    environ_get = args_get

    def clock_res_get(self, _clock: int, out: int) -> int:
        return self._write_u64(out, 1000)

    def clock_time_get(self, _clock: int, _precision: int, out: int) -> int:
        return self._write_u64(out, FIXED_TIME_NS)

    def poll_oneoff(self, _subscriptions: int, _events: int, _count: int, out: int) -> int:
        """Nothing happens: the module selectors polls once, to see whether it can."""
        return self._write_u32(out, 0)

    def random_get(self, pointer: int, length: int) -> int:
        return self._write(pointer, bytes(i & 0xFF for i in range(length)))

    # --- descriptors ---

    def fd_prestat_get(self, descriptor: int, out: int) -> int:
        if descriptor != ROOT_DESCRIPTOR:
            return BADF
        return self._write(out, struct.pack("<II", 0, 1))

    def fd_prestat_dir_name(self, descriptor: int, pointer: int, length: int) -> int:
        if descriptor != ROOT_DESCRIPTOR:
            return BADF
        return self._write(pointer, b"/"[:length])

    def fd_fdstat_get(self, descriptor: int, out: int) -> int:
        if descriptor < ROOT_DESCRIPTOR:
            return self._write(out, FDSTAT.pack(CHARACTER_DEVICE, 0, ALL_RIGHTS, 0))
        if descriptor not in self.opened:
            return BADF
        kind = self.opened[descriptor].node.kind
        return self._write(out, FDSTAT.pack(kind, 0, ALL_RIGHTS, ALL_RIGHTS))

    def fd_filestat_get(self, descriptor: int, out: int) -> int:
        if descriptor < ROOT_DESCRIPTOR:
            return self._write(out, FILESTAT.pack(0, 0, CHARACTER_DEVICE, 1, 0, 0, 0, 0))
        if descriptor not in self.opened:
            return BADF
        return self._write(out, self.opened[descriptor].node.status())

    def fd_close(self, descriptor: int) -> int:
        return BADF if self.opened.pop(descriptor, None) is None else SUCCESS

    def fd_tell(self, descriptor: int, out: int) -> int:
        return self.fd_seek(descriptor, 0, 1, out)

    def fd_seek(self, descriptor: int, offset: int, whence: int, out: int) -> int:
        file = self.opened.get(descriptor)
        if file is None:
            return BADF
        signed = offset - (1 << 64) if offset >> 63 else offset
        position = signed + (0, file.position, len(file.node.content))[whence]
        if position < 0:
            return INVAL
        file.position = position
        return self._write_u64(out, position)

    def fd_read(self, descriptor: int, vectors: int, count: int, out: int) -> int:
        file = self.opened.get(descriptor)
        if file is None:
            return BADF
        if file.node.children is not None:
            return ISDIR
        total = 0
        for pointer, length in self._vectors(vectors, count):
            piece = file.node.content[file.position : file.position + length]
            self._write(pointer, piece)
            file.position += len(piece)
            total += len(piece)
        return self._write_u32(out, total)

    def fd_write(self, descriptor: int, vectors: int, count: int, out: int) -> int:
        if descriptor not in (1, 2):
            return BADF
        pieces = [self._read(pointer, length) for pointer, length in self._vectors(vectors, count)]
        stream = sys.stdout if descriptor == 1 else sys.stderr
        stream.write(b"".join(pieces).decode("utf-8", "replace"))
        return self._write_u32(out, sum(map(len, pieces)))

    def fd_readdir(self, descriptor: int, pointer: int, size: int, cookie: int, out: int) -> int:
        file = self.opened.get(descriptor)
        if file is None:
            return BADF
        if file.node.children is None:
            return NOTDIR
        nodes = [(".", file.node), ("..", file.node), *file.node.children.items()]
        listing = b"".join(
            DIRENT.pack(index + 1, node.number, len(name.encode()), node.kind) + name.encode()
            for index, (name, node) in enumerate(nodes)
            if index >= cookie
        )
        return self._write(pointer, listing[:size]) or self._write_u32(out, min(size, len(listing)))

    # --- paths ---

    def _find(self, descriptor: int, pointer: int, length: int) -> Node | int:
        """The node, or an errno."""
        file = self.opened.get(descriptor)
        if file is None:
            return BADF
        node = file.node
        for part in PurePosixPath(self._read(pointer, length).decode()).parts:
            if node.children is None:
                return NOTDIR
            if part not in node.children:
                return NOENT
            node = node.children[part]
        return node

    def path_filestat_get(
        self, descriptor: int, _flags: int, pointer: int, length: int, out: int
    ) -> int:
        node = self._find(descriptor, pointer, length)
        return node if isinstance(node, int) else self._write(out, node.status())

    def path_open(
        self,
        descriptor: int,
        _lookup: int,
        pointer: int,
        length: int,
        oflags: int,
        rights: int,
        _inherited: int,
        _flags: int,
        out: int,
    ) -> int:
        node = self._find(descriptor, pointer, length)
        if oflags & OFLAGS_CREAT or (rights & RIGHTS_FD_WRITE and not isinstance(node, int)):
            return ROFS
        if isinstance(node, int):
            return node
        if oflags & OFLAGS_DIRECTORY and node.children is None:
            return NOTDIR
        opened = next(n for n in range(ROOT_DESCRIPTOR, 1 << 31) if n not in self.opened)
        self.opened[opened] = Open(node)
        return self._write_u32(out, opened)
