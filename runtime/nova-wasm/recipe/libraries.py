"""The C libraries under CPython's modules: zlib, bz2, lzma, sqlite3."""

from __future__ import annotations

from pathlib import Path

from recipe.sources import BZIP2, SQLITE, XZ, ZLIB
from recipe.toolchain import Toolchain

ZLIB_FILES = (
    "adler32",
    "compress",
    "crc32",
    "deflate",
    "infback",
    "inffast",
    "inflate",
    "inftrees",
    "trees",
    "uncompr",
    "zutil",
)
BZIP2_FILES = (
    "blocksort",
    "huffman",
    "crctable",
    "randtable",
    "compress",
    "decompress",
    "bzlib",
)

SQLITE_OPTIONS = (
    "-O2",
    "-DSQLITE_THREADSAFE=0",
    "-DSQLITE_OMIT_LOAD_EXTENSION",
    "-DSQLITE_OMIT_SHARED_CACHE",
    "-DSQLITE_ENABLE_FTS5",
    "-DSQLITE_ENABLE_MATH_FUNCTIONS",
    "-DSQLITE_ENABLE_RTREE",
    "-DSQLITE_DQS=0",
    "-DSQLITE_DEFAULT_MEMSTATUS=0",
    "-DSQLITE_MAX_MMAP_SIZE=0",  # WASI has no mmap
    "-DSQLITE_TEMP_STORE=3",  # temporary tables in memory
)


def build(toolchain: Toolchain) -> None:
    """Into ``lib`` and ``include`` of the working folder."""
    trees = toolchain.work / "src"
    include = toolchain.work / "include"
    include.mkdir(exist_ok=True)
    _zlib(toolchain, trees / ZLIB.directory, include)
    _bzip2(toolchain, trees / BZIP2.directory, include)
    _xz(toolchain, include)
    _sqlite(toolchain, include)


def archives(toolchain: Toolchain) -> list[Path]:
    return [toolchain.work / "lib" / f"lib{name}.a" for name in ("z", "bz2", "lzma", "sqlite3")]


def _copy(include: Path, *headers: Path) -> None:
    for header in headers:
        (include / header.name).write_bytes(header.read_bytes())


def _objects(
    toolchain: Toolchain, library: str, tree: Path, names: tuple[str, ...], *options: str
) -> None:
    folder = toolchain.work / "objects" / library
    objects = [
        toolchain.compile_once(tree / f"{name}.c", folder / f"{name}.o", options) for name in names
    ]
    toolchain.archive(toolchain.work / "lib" / f"lib{library}.a", objects)


def _zlib(toolchain: Toolchain, tree: Path, include: Path) -> None:
    _objects(toolchain, "z", tree, ZLIB_FILES)
    _copy(include, tree / "zlib.h", tree / "zconf.h")


def _bzip2(toolchain: Toolchain, tree: Path, include: Path) -> None:
    # Without stdio the library asks for bz_internal_error: common/bzip2_error.c.
    _objects(toolchain, "bz2", tree, BZIP2_FILES, "-DBZ_NO_STDIO=1", "-w")
    _copy(include, tree / "bzlib.h")


def _xz(toolchain: Toolchain, include: Path) -> None:
    build = toolchain.work / "xz"
    build.mkdir(exist_ok=True)
    tree = Path("..", "src", XZ.directory)
    if not (build / "Makefile").is_file():
        toolchain.run(
            [
                tree / "configure",
                "--host=wasm32-wasi",
                "--build=x86_64-pc-linux-gnu",
                "--disable-shared",
                "--enable-static",
                "--enable-threads=no",
                "--disable-nls",
                "--disable-doc",
                "--disable-scripts",
                "--disable-xz",
                "--disable-xzdec",
                "--disable-lzmadec",
                "--disable-lzmainfo",
                "--enable-sandbox=no",
                "--disable-assembler",
            ],
            directory=build,
            environment=toolchain.wrappers("plain", ["-w"]),
            log="xz-configure",
        )
    toolchain.run(["make", "-j2", "-C", "src/liblzma"], directory=build, log="xz-make")
    library = build / "src/liblzma/.libs/liblzma.a"
    (toolchain.work / "lib" / "liblzma.a").write_bytes(library.read_bytes())
    headers = toolchain.work / "src" / XZ.directory / "src/liblzma/api"
    _copy(include, headers / "lzma.h")
    (include / "lzma").mkdir(exist_ok=True)
    _copy(include / "lzma", *(headers / "lzma").glob("*.h"))


def _sqlite(toolchain: Toolchain, include: Path) -> None:
    build = toolchain.work / "sqlite"
    build.mkdir(exist_ok=True)
    if not (build / "sqlite3.c").is_file():
        configure = Path("..", "src", SQLITE.directory, "configure")
        toolchain.run(
            [configure, "--disable-tcl", "--disable-readline"],
            directory=build,
            log="sqlite-configure",
        )
        toolchain.run(["make", "sqlite3.c"], directory=build, log="sqlite-amalgamation")
    _objects(toolchain, "sqlite3", build, ("sqlite3",), *SQLITE_OPTIONS)
    _copy(include, build / "sqlite3.h", build / "sqlite3ext.h")
