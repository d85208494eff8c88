"""CPython for the guest: configured, compiled and linked with our embedding.

Facts behind the options, measured with the product's own benchmarks against the native
interpreter (README, "Speed"): real -O3, -fwrapv, computed gotos (LLVM makes a branch table of
them, which is still faster than the switch), the committed profile, and link-time optimisation.
"""

from __future__ import annotations

import shutil
from enum import Enum
from pathlib import Path

from recipe import libraries
from recipe.sources import PYTHON
from recipe.toolchain import GUEST_DIRECTORY, Toolchain

STACK_BYTES = 8 << 20
"""Enough for CPython's own recursion checks to be reached before the stack ends."""

PROFILE = GUEST_DIRECTORY / "python" / "profile" / "cpython.profdata"

ABSENT_FUNCTIONS = (
    "header_sys_epoll_h",
    "func_epoll_create",
    "func_epoll_create1",
    "func_setgroups",
    "func_timerfd_create",
    "header_sys_timerfd_h",
    "header_libintl_h",
    "func_dup3",
    # Only an imitation in libc, which pymalloc refuses.
    "func_mmap",
    "header_sys_mman_h",
)
"""What configure would believe this libc to have."""

ABSENT_MODULES = (
    "_socket",
    "termios",
    "_interpreters",
    "_interpchannels",
    "_interpqueues",
    "readline",
)

PYTHON_ARCHIVES = (
    "libpython3.13.a",
    "Modules/_decimal/libmpdec/libmpdec.a",
    "Modules/expat/libexpat.a",
    "Modules/_hacl/libHacl_Hash_SHA2.a",
)

WARNINGS = (
    "-Wno-int-conversion",
    "-Wno-macro-redefined",
    "-Wno-date-time",
    "-Wno-profile-instr-unprofiled",
    "-Wno-profile-instr-out-of-date",
    "-Wno-backend-plugin",
)


class Variant(Enum):
    """How CPython is compiled; each has a folder of its own."""

    RELEASE = "release"
    QUICK = "quick"
    """Without profile and link-time optimisation: for work on the embedding."""
    TRAINING = "training"
    """Counts for the profile."""

    def options(self) -> list[str]:
        common = ["-DUSE_COMPUTED_GOTOS=1", *WARNINGS]
        if self is Variant.RELEASE:
            return [*common, f"-fprofile-use={PROFILE}", "-flto=full"]
        if self is Variant.TRAINING:
            return [*common, "-fprofile-generate"]
        return common


def _tree(toolchain: Toolchain) -> Path:
    return toolchain.work / "src" / PYTHON.directory


def _folder(toolchain: Toolchain, variant: Variant) -> Path:
    return toolchain.work / f"cpython-{variant.value}"


def configure(toolchain: Toolchain) -> None:
    folder = toolchain.work / "cpython-configured"
    if (folder / "Makefile").is_file():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    site = folder / "config.site"
    site.write_text(
        (_tree(toolchain) / "Tools/wasm/config.site-wasm32-wasi").read_text()
        + "".join(f"ac_cv_{name}=no\n" for name in ABSENT_FUNCTIONS)
        + "".join(f"py_cv_module_{name}=n/a\n" for name in ABSENT_MODULES)
    )
    include, lib = f"-I{toolchain.work / 'include'}", f"-L{toolchain.work / 'lib'}"
    environment = toolchain.wrappers("plain", ["-w"]) | {
        "CONFIG_SITE": str(site),
        "PKG_CONFIG_LIBDIR": "/nonexistent",
        "OPT": "-Wall",
        "LDFLAGS": "-lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks",
    }
    for variable, library in (
        ("ZLIB", "z"),
        ("BZIP2", "bz2"),
        ("LIBLZMA", "lzma"),
        ("LIBSQLITE3", "sqlite3"),
    ):
        environment[f"{variable}_CFLAGS"] = include
        environment[f"{variable}_LIBS"] = f"{lib} -l{library}"
    toolchain.run(
        [
            Path("..", "src", PYTHON.directory, "configure"),
            "--host=wasm32-unknown-wasi",
            "--build=x86_64-pc-linux-gnu",
            f"--with-build-python={toolchain.work / 'native' / 'python'}",
            "--prefix=/usr",
            "--without-ensurepip",
            "--disable-test-modules",
            "--disable-ipv6",
            "--with-pymalloc",
            # Its random state would make two snapshots differ.
            "--without-mimalloc",
        ],
        directory=folder,
        environment=environment,
        log="cpython-configure",
    )
    header = folder / "pyconfig.h"
    header.write_text(
        header.read_text().replace(
            "/* #undef HAVE_COMPUTED_GOTOS */", "#define HAVE_COMPUTED_GOTOS 1"
        )
    )


def compile_library(toolchain: Toolchain, variant: Variant) -> None:
    folder = _folder(toolchain, variant)
    if not folder.is_dir():
        shutil.copytree(toolchain.work / "cpython-configured", folder, symlinks=True)
    compiler = toolchain.wrappers(variant.value, variant.options())["CC"]
    toolchain.run(
        ["make", "-j2", f"CC={compiler}", *PYTHON_ARCHIVES],
        directory=folder,
        log=f"cpython-{variant.value}",
    )


def link(toolchain: Toolchain, variant: Variant, output: Path) -> None:
    """Link the embedding; ``output`` is the module before the snapshot."""
    folder = _folder(toolchain, variant)
    options = [
        *variant.options(),
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{GUEST_DIRECTORY / 'common'}",
        f"-I{toolchain.work / 'include'}",
        f"-I{folder}",
        f"-I{_tree(toolchain) / 'Include'}",
        "-Wno-unused-parameter",  # CPython's headers
    ]
    sources = [
        GUEST_DIRECTORY / "python" / "nova.c",
        *(
            GUEST_DIRECTORY / "common" / f"{name}.c"
            for name in ("alloc", "localtime", "bzip2_error")
        ),
    ]
    if variant is Variant.TRAINING:
        sources.append(GUEST_DIRECTORY / "python" / "profile" / "counters.c")
    objects = [
        toolchain.compile(
            source,
            folder / "nova" / f"{source.stem}.o",
            [o for o in options if source.stem != "counters" or o != "-fprofile-generate"],
        )
        for source in sources
    ]
    toolchain.link(
        output,
        objects,
        [*(folder / name for name in PYTHON_ARCHIVES), *libraries.archives(toolchain)],
        stack_bytes=STACK_BYTES,
        options=["--lto-O3"] if variant is Variant.RELEASE else [],
    )
