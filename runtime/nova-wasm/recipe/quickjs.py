"""QuickJS for the guest, compiled and linked with the embedding in ``javascript``."""

from __future__ import annotations

from pathlib import Path

from recipe.sources import QUICKJS
from recipe.toolchain import GUEST_DIRECTORY, Toolchain

STACK_BYTES = 4 << 20
ENGINE_FILES = ("quickjs", "cutils", "libregexp", "libunicode", "dtoa")
OPTIONS = (
    "-D_GNU_SOURCE",
    # QuickJS's own switch for a WebAssembly build: no threads, no Atomics.
    "-DEMSCRIPTEN",
    # ... which turns the check off that makes deep recursion an InternalError.
    "-DCONFIG_STACK_CHECK",
    f'-DCONFIG_VERSION="{QUICKJS.version}"',
)


def link(toolchain: Toolchain, output: Path) -> None:
    """``output`` is the module before the snapshot."""
    tree = toolchain.work / "src" / QUICKJS.directory
    javascript, common = GUEST_DIRECTORY / "javascript", GUEST_DIRECTORY / "common"
    objects = toolchain.work / "objects" / "quickjs"
    includes = [f"-I{path}" for path in (javascript, common, common / "stubs", tree)]
    engine = [
        toolchain.compile_once(
            tree / f"{name}.c", objects / f"{name}.o", [*OPTIONS, *includes, "-w"]
        )
        for name in ENGINE_FILES
    ]
    ours = [
        toolchain.compile(
            source, objects / f"nova-{source.stem}.o", [*OPTIONS, *includes, "-Wall", "-Wextra"]
        )
        for source in [
            *sorted(javascript.glob("*.c")),
            common / "alloc.c",
            common / "localtime.c",
        ]
    ]
    toolchain.link(output, [*ours, *engine], [], stack_bytes=STACK_BYTES)
