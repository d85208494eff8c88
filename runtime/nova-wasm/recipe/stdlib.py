"""The archive of Python's standard library: compiled modules only.

Runs twice: imported by the recipe, and as a script under the native CPython, which compiles the
modules and writes the archive (its marshal format and its zlib are the pinned ones).

Usage as a script: stdlib.py TREE ARCHIVE ABSENT.py
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

FROM = "/usr/lib/python3.13"
"""Where tracebacks say the modules are; also ``sysconfig``'s stdlib path."""

TIME_STAMP = (2025, 6, 11, 0, 0, 0)
"""The release date of this CPython."""

LEFT_OUT = {
    "__phello__",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "test",
    "turtledemo",
}
"""Not useful without a screen or a test suite; what *cannot* exist is in absent.py."""


def modules(tree: Path, absent: set[str]) -> Iterator[Path]:
    for path in sorted(tree.rglob("*.py")):
        relative = path.relative_to(tree)
        top = relative.parts[0].removesuffix(".py")
        if top not in absent and top not in LEFT_OUT and "site-packages" not in relative.parts:
            yield relative


def write_archive(tree: Path, archive: Path, absent: set[str]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for relative in modules(tree, absent):
            source = (tree / relative).read_bytes()
            code = compile(source, f"{FROM}/{relative}", "exec", dont_inherit=True, optimize=0)
            entry = zipfile.ZipInfo(str(relative.with_suffix(".pyc")), TIME_STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o444 << 16
            out.writestr(entry, _unchecked_pyc(code, source))


def _unchecked_pyc(code: object, source: bytes) -> bytes:
    """PEP 552: identified by the hash of its source, which the importer need not look at."""
    flags = (1).to_bytes(4, "little")
    digest = importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + flags + digest + marshal.dumps(code)


def main() -> None:
    tree, archive, absent = map(Path, sys.argv[1:])
    namespace: dict[str, object] = {}
    exec(compile(absent.read_text(), str(absent), "exec"), namespace)  # noqa: S102 - our own file
    names = namespace["ABSENT"]
    assert isinstance(names, dict)
    write_archive(tree, archive, set(names))


if __name__ == "__main__":
    main()
