"""What the shipped artefacts are and what they were built from.

``dist/manifest.json`` has the hash of the recipe: over every file that decides about bytes of
the artefacts, and the versions of the tools. A change of any of them without a rebuild is found
by comparing hashes, which needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from recipe import licences, sources
from recipe.toolchain import GUEST_DIRECTORY, PINNED_TOOLS, BuildError

DIST = GUEST_DIRECTORY / "dist"
MANIFEST = "manifest.json"
FORMAT = 1
INPUTS = ("build.py", "sources.sha256", "common", "javascript", "packages", "python", "recipe")
IGNORED_SUFFIXES = {".md", ".pyc"}


def recipe_files() -> Iterator[Path]:
    for name in INPUTS:
        path = GUEST_DIRECTORY / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            relevant = file.suffix not in IGNORED_SUFFIXES and "__pycache__" not in file.parts
            if file.is_file() and relevant:
                yield file


def recipe_sha256() -> str:
    digest = hashlib.sha256(json.dumps(PINNED_TOOLS, sort_keys=True).encode())
    for file in recipe_files():
        name = file.relative_to(GUEST_DIRECTORY).as_posix()
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{content}  {name}\n".encode())
    return digest.hexdigest()


def write(
    dist: Path,
    contents: Mapping[str, bytes],
    packages: list[dict[str, str]],
    licence_texts: str,
) -> None:
    """Compress the artefacts into ``dist`` and describe them there.

    Args:
        contents: artefact name (``python.wasm``) to its bytes.
        packages: name, version, licence and summary of each package of the library pack.
    """
    import zstandard

    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob("*.zst"):
        old.unlink()
    (dist / licences.FILE).write_text(licence_texts, encoding="utf-8")
    compressor = zstandard.ZstdCompressor(level=19, write_checksum=False)
    artefacts = {}
    for name, content in sorted(contents.items()):
        compressed = compressor.compress(content)
        (dist / f"{name}.zst").write_bytes(compressed)
        artefacts[name] = {
            "file": f"{name}.zst",
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "file_sha256": hashlib.sha256(compressed).hexdigest(),
            "file_bytes": len(compressed),
        }
    manifest = {
        "format": FORMAT,
        "recipe_sha256": recipe_sha256(),
        "python": sources.PYTHON.version,
        "quickjs": sources.QUICKJS.version,
        "tools": PINNED_TOOLS,
        "sources": sources.expected_hashes(),
        "licences": licences.spdx(),
        "artefacts": artefacts,
        "packages": packages,
    }
    (dist / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")


def read(dist: Path = DIST) -> dict[str, object]:
    """Raises:
    BuildError: there is none, or it is not ours.
    """
    try:
        manifest = json.loads((dist / MANIFEST).read_text())
    except (OSError, ValueError) as error:
        raise BuildError(f"no readable manifest in {dist}: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BuildError(f"{dist / MANIFEST} is not of format {FORMAT}")
    return manifest


def differences(dist: Path = DIST) -> list[str]:
    """Why the artefacts in ``dist`` are not what this recipe builds; empty if they are.

    Compares hashes only: that the recipe really builds these bytes is what a rebuild proves.
    """
    manifest = read(dist)
    found = []
    if manifest["recipe_sha256"] != recipe_sha256():
        found.append("the recipe changed since the artefacts were built")
    if manifest["sources"] != sources.expected_hashes():
        found.append("the artefacts were built from other sources")
    artefacts = manifest["artefacts"]
    assert isinstance(artefacts, dict)
    for name, record in artefacts.items():
        path = dist / record["file"]
        if not path.is_file():
            found.append(f"{name} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != record["file_sha256"]:
            found.append(f"{name} is not the recorded one")
    return found
