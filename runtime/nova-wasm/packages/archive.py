"""Writes the library pack's archive from wheels; run by the guest's native CPython.

Usage: archive.py WHEELS ARCHIVE LIST LICENCES
"""

from __future__ import annotations

import email
import importlib.util
import json
import marshal
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

HERE = Path(__file__).resolve().parent

FROM = "/usr/lib/python3-packages"
"""Where tracebacks say the modules are."""

TIME_STAMP = (2025, 1, 1, 0, 0, 0)

DROPPED_FOLDERS = {"test", "tests"}
DROPPED_SUFFIXES = {".so", ".c", ".h", ".pyx", ".pxd", ".pyi", ".typed"}
DROPPED_METADATA = {"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "sboms"}
LICENCE_WORDS = ("licen", "copying", "notice", "authors")


def is_metadata(path: PurePosixPath) -> bool:
    return path.parts[0].endswith(".dist-info")


def wanted(path: PurePosixPath) -> bool:
    if is_metadata(path):
        return not DROPPED_METADATA.intersection(path.parts)
    return (
        not DROPPED_FOLDERS.intersection(path.parts[:-1])
        and path.suffix not in DROPPED_SUFFIXES
        and not path.parts[0].endswith(".data")
    )


def read_wheel(wheel: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if not entry.is_dir() and wanted(path):
                yield path, archive.read(entry)


def compiled(path: PurePosixPath, source: bytes) -> bytes:
    """A .pyc of PEP 552, identified by its source's hash, which the importer need not check."""
    code = compile(source, f"{FROM}/{path}", "exec", dont_inherit=True, optimize=0)
    flags = (1).to_bytes(4, "little")
    digest = importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + flags + digest + marshal.dumps(code)


def describe(metadata: bytes, licence: str) -> dict[str, str]:
    message = email.message_from_bytes(metadata)
    return {
        "name": str(message["Name"]),
        "version": str(message["Version"]),
        "licence": licence,
        "summary": str(message["Summary"]),
    }


def edit(contents: dict[PurePosixPath, bytes], change: dict[str, str]) -> None:
    path = PurePosixPath(change["file"])
    text = contents[path].decode("utf-8")
    if text.count(change["old"]) != 1:
        raise SystemExit(f"archive.py: the edit of {path} fits {text.count(change['old'])} places")
    contents[path] = text.replace(change["old"], change["new"]).encode("utf-8")


def licence_texts(contents: dict[PurePosixPath, bytes]) -> Iterator[str]:
    for path, data in sorted(contents.items()):
        if is_metadata(path) and any(word in path.name.lower() for word in LICENCE_WORDS):
            yield data.decode("utf-8").strip() + "\n"


def write_archive(archive_path: Path, files: dict[PurePosixPath, bytes]) -> None:
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in sorted(files.items()):
            if path.suffix == ".py":
                path, data = path.with_suffix(".pyc"), compiled(path, data)
            entry = zipfile.ZipInfo(str(path), TIME_STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o444 << 16
            archive.writestr(entry, data)


def main() -> None:
    wheels, archive_path, list_path, licences_path = map(Path, sys.argv[1:])
    document: dict[str, Any] = tomllib.loads((HERE / "packages.toml").read_text(encoding="utf-8"))
    files = {PurePosixPath(path.name): path.read_bytes() for path in HERE.glob("shims/*.py")}
    described: list[dict[str, str]] = []
    licences: list[str] = []
    for package in sorted(document["package"], key=lambda package: package["name"]):
        contents = dict(read_wheel(wheels / package["wheel"]))
        for change in package.get("edit", ()):
            edit(contents, change)
        metadata = next(data for path, data in contents.items() if path.name == "METADATA")
        described.append(describe(metadata, package["licence"]))
        title = f"{package['name']} {package['version']} ({package['licence']})"
        licences += [f"{'=' * 78}\n{title}\n", *licence_texts(contents)]
        files |= contents
    write_archive(archive_path, files)
    list_path.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    licences_path.write_text("\n".join(licences), encoding="utf-8")


if __name__ == "__main__":
    main()
