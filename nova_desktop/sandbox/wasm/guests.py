"""The language guests that travel with the product: found, verified, unpacked when needed."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nova_desktop.model import InvalidRequest, Language, RuntimeUnavailable

MANIFEST_FORMAT = 1

GUEST_ARTEFACTS = {Language.PYTHON: "python.wasm", Language.JAVASCRIPT: "javascript.wasm"}

READ_ONLY_FILES: Mapping[Language, Mapping[str, str]] = {
    Language.PYTHON: {
        "/usr/lib/python313.zip": "python-stdlib.zip",
        "/usr/lib/python3-packages.zip": "python-packages.zip",
    },
    Language.JAVASCRIPT: {},
}
"""Guest path to artefact: what is mapped read-only into a guest's file system."""

_ZONE_ARTEFACT = "python-packages.zip"
_ZONE_FOLDER = "tzdata/zoneinfo/"

_REMEDY = "Reinstall Nova; in a source tree, run: make guests"


@dataclass(frozen=True, slots=True)
class Artefact:
    """One entry of ``manifest.json``; sizes and hashes are of the unpacked bytes."""

    file: str
    sha256: str
    size: int


class Guests:
    """The folder with the guests. Nothing is read before it is asked for. Thread-safe."""

    def __init__(self, folder: Path | None = None) -> None:
        """Raises:
        RuntimeUnavailable: there are no guests, or their manifest cannot be read.
        """
        self.folder = folder if folder is not None else _find_folder()
        self.manifest = _read_manifest(self.folder)
        self._artefacts = _artefacts(self.manifest)
        self._lock = threading.Lock()
        self._kept: dict[str, bytes] = {}
        self._zones: dict[str, bytes] = {}

    def languages(self) -> list[Language]:
        return [lang for lang, name in GUEST_ARTEFACTS.items() if name in self._artefacts]

    def sha256(self, language: Language) -> str:
        """Of the guest's wasm, as the manifest has it: known without unpacking."""
        return self._artefact(_guest_name(language)).sha256

    def wasm(self, language: Language) -> bytes:
        """The guest, unpacked and verified; needed to compile it, not kept.

        Raises:
            RuntimeUnavailable: missing, damaged, or not what the manifest names.
        """
        return self._unpack(_guest_name(language))

    def read_only_files(self, language: Language) -> dict[str, bytes]:
        """Guest path to content, the same bytes objects for every run.

        Raises:
            RuntimeUnavailable: missing, damaged, or not what the manifest names.
        """
        files = READ_ONLY_FILES.get(language, {})
        return {path: self._keep(name) for path, name in files.items() if name in self._artefacts}

    def time_zone(self, name: str) -> bytes:
        """The zone's TZif data, from the same tz database that the guests carry.

        Raises:
            InvalidRequest: no such zone.
        """
        if name == "UTC":
            return b""
        try:
            if name not in self._zones:
                self._zones[name] = self._read_zone(name)
            return self._zones[name]
        except KeyError:
            raise InvalidRequest(
                "request.unknown_timezone",
                f"There is no time zone {name!r}.",
                "Use an IANA name, for example Europe/Berlin or UTC.",
            ) from None

    def _read_zone(self, name: str) -> bytes:
        import zipfile  # takes 8 ms to import; most runs are in UTC

        # Not every member of the archive is a zone, and KeyError is what zipfile raises too.
        with zipfile.ZipFile(io.BytesIO(self._keep(_ZONE_ARTEFACT))) as archive:
            data = archive.read(_ZONE_FOLDER + name)
        if not data.startswith(b"TZif"):
            raise KeyError(name)
        return data

    def _keep(self, name: str) -> bytes:
        with self._lock:
            if name not in self._kept:
                self._kept[name] = self._unpack(name)
            return self._kept[name]

    def _artefact(self, name: str) -> Artefact:
        artefact = self._artefacts.get(name)
        if artefact is None:
            raise RuntimeUnavailable(
                "runtime.guest_missing", f"{self.folder} has no {name}.", _REMEDY
            )
        return artefact

    def _unpack(self, name: str) -> bytes:
        import zstandard  # takes 15 ms to import; not needed for a language that needs no files

        artefact = self._artefact(name)
        try:
            packed = (self.folder / artefact.file).read_bytes()
            # The frame says how long its content is: refused before any of it is unpacked.
            if zstandard.frame_content_size(packed) != artefact.size:
                raise _damaged(self.folder / artefact.file)
            content = zstandard.ZstdDecompressor().decompress(packed)
        except (OSError, zstandard.ZstdError) as error:
            raise _damaged(self.folder / artefact.file) from error
        if hashlib.sha256(content).hexdigest() != artefact.sha256:
            raise _damaged(self.folder / artefact.file)
        return content


def _guest_name(language: Language) -> str:
    try:
        return GUEST_ARTEFACTS[language]
    except KeyError:
        raise RuntimeUnavailable(
            "runtime.language_unavailable",
            f"The WASM runtime has no {language.value} guest.",
            "Use python or javascript, or the nova or docker runtime.",
        ) from None


def _find_folder() -> Path:
    """In an installed package next to this file, in a source tree where the recipe puts it."""
    here = Path(__file__).resolve().parent
    for folder in (here / "dist", here.parents[2] / "runtime" / "nova-wasm" / "dist"):
        if (folder / "manifest.json").is_file():
            return folder
    raise RuntimeUnavailable(
        "runtime.guest_missing", "The language guests are not installed.", _REMEDY
    )


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _damaged(path) from error
    if not isinstance(manifest, dict) or manifest.get("format") != MANIFEST_FORMAT:
        raise RuntimeUnavailable(
            "runtime.guest_format", f"{path} has another format than {MANIFEST_FORMAT}.", _REMEDY
        )
    return manifest


def _artefacts(manifest: Mapping[str, Any]) -> dict[str, Artefact]:
    try:
        return {
            name: Artefact(str(entry["file"]), str(entry["sha256"]), int(entry["bytes"]))
            for name, entry in manifest["artefacts"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RuntimeUnavailable(
            "runtime.guest_format", "The guests' manifest cannot be understood.", _REMEDY
        ) from error


def _damaged(path: Path) -> RuntimeUnavailable:
    return RuntimeUnavailable(
        "runtime.guest_damaged", f"{path} is missing, damaged or not the one we ship.", _REMEDY
    )
