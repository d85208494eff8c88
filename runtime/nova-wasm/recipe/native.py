"""A CPython for the building machine: it runs CPython's own build steps and makes the .pyc.

It has the modules that these steps need, and zlib from the pinned source, so that the archives
it writes have the same bytes on every machine whatever zlib the machine has.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from recipe.libraries import ZLIB_FILES
from recipe.sources import PYTHON, ZLIB
from recipe.toolchain import Toolchain

OPTIONS = ("-I", "-S", "-B", "-X", "pycache_prefix=/nonexistent")
"""How it is started to write archives: with its own library compiled from source each time.
Which strings are interned, and with it the marshalled form of the same strings in other modules,
depends on whether a module of the compiling process came from a cache."""

MODULES = """\
*static*
_struct _struct.c
binascii binascii.c
math mathmodule.c
unicodedata unicodedata.c
zlib zlibmodule.c -I{zlib} {library}
"""


def build(toolchain: Toolchain) -> Path:
    """Build it, if it is not there yet; the path of the interpreter."""
    folder = toolchain.work / "native"
    python = folder / "python"
    if python.is_file():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    zlib = toolchain.work / "src" / ZLIB.directory
    for name in ZLIB_FILES:
        toolchain.run(["cc", "-O2", "-fPIC", "-c", zlib / f"{name}.c"], directory=folder)
    toolchain.run(["ar", "rcs", "libz.a", *(f"{name}.o" for name in ZLIB_FILES)], directory=folder)
    configure = Path("..", "native-src", PYTHON.directory, "configure")
    toolchain.run(
        [
            configure,
            "--without-ensurepip",
            "--disable-test-modules",
            "CC=cc",
            # It runs for seconds: compiling it fast matters more than its speed.
            "OPT=-DNDEBUG",
            "CFLAGS=-O0",
        ],
        directory=folder,
        log="native-configure",
    )
    (folder / "Modules" / "Setup.local").write_text(
        MODULES.format(zlib=zlib, library=folder / "libz.a")
    )
    toolchain.run(["make", "-j2", "python"], directory=folder, log="native-make")
    return python
