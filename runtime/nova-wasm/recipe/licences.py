"""The licences of everything that is inside the artefacts, in one text beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recipe.sources import BZIP2, PYTHON, QUICKJS, SQLITE, XZ, ZLIB, Source
from recipe.toolchain import PINNED_TOOLS, BuildError, Toolchain

FILE = "LICENCES.txt"
RULE = "=" * 78


@dataclass(frozen=True)
class Component:
    name: str
    licence: str
    """SPDX expression."""
    texts: tuple[str, ...]
    """Files below the unpacked sources, or below ``zig/`` for the compiler's own libraries."""


def _of(source: Source, licence: str, *texts: str) -> Component:
    paths = tuple(f"{source.directory}/{text}" for text in texts)
    return Component(f"{source.package} {source.version}", licence, paths)


COMPONENTS = (
    # The second text lists the software inside CPython: libmpdec, HACL*, BLAKE2, expat, ...
    _of(PYTHON, "PSF-2.0", "LICENSE", "Doc/license.rst"),
    Component("expat (in CPython)", "MIT", (f"{PYTHON.directory}/Modules/expat/COPYING",)),
    _of(QUICKJS, "MIT", "LICENSE"),
    _of(SQLITE, "blessing", "LICENSE.md"),
    _of(ZLIB, "Zlib", "LICENSE"),
    _of(BZIP2, "bzip2-1.0.6", "LICENSE"),
    # Of XZ Utils only liblzma is used, which is 0BSD.
    _of(XZ, "0BSD", "COPYING.0BSD"),
    Component(
        "wasi-libc",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        (
            "zig/lib/libc/wasi/LICENSE",
            "zig/lib/libc/wasi/LICENSE-MIT",
            "zig/lib/libc/wasi/libc-bottom-half/cloudlibc/LICENSE",
        ),
    ),
    Component("musl (in wasi-libc)", "MIT", ("zig/lib/libc/wasi/libc-top-half/musl/COPYRIGHT",)),
    Component(f"zig {PINNED_TOOLS['ziglang']} (its run-time library)", "MIT", ("zig/LICENSE",)),
)
"""All of them may be combined with and shipped in a work under Apache-2.0."""


def spdx() -> dict[str, str]:
    return {component.name: component.licence for component in COMPONENTS}


def collect(toolchain: Toolchain, packages: str) -> str:
    """One text; ``packages`` is the library pack's part of it.

    Raises:
        BuildError: a component came without its licence.
    """
    parts = []
    for component in COMPONENTS:
        parts += [RULE, f"{component.name}: {component.licence}", RULE, ""]
        parts += [_read(toolchain, text).strip() + "\n" for text in component.texts]
    return "\n".join(parts) + "\n" + packages


def _read(toolchain: Toolchain, text: str) -> str:
    root, _, rest = text.partition("/")
    path = toolchain.zig_directory / rest if root == "zig" else toolchain.work / "src" / text
    if not Path(path).is_file():
        raise BuildError(f"no licence text {text}")
    return path.read_text(encoding="utf-8", errors="replace")
