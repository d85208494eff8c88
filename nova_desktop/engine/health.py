"""What works on this machine and why the rest does not: the value behind ``nova doctor``."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nova_desktop
from nova_desktop.execute.choose import LANGUAGES
from nova_desktop.model import (
    ErrorInfo,
    ExecutionRequest,
    Language,
    NovaError,
    ProgressCallback,
    RuntimeName,
    RuntimeUnavailable,
    Status,
)
from nova_desktop.sandbox.wasm.guests import Guests
from nova_desktop.settings import RuntimeSettings
from nova_desktop.settings.environment import ALLOW_LOCAL_VARIABLE

if TYPE_CHECKING:
    from nova_desktop.engine.assemble import Parts


@dataclass(frozen=True, slots=True)
class RuntimeHealth:
    """One runtime: available, or why not and what to do about it."""

    name: RuntimeName
    available: bool
    sandboxed: bool
    languages: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": str(self.name),
            "available": self.available,
            "sandboxed": self.sandboxed,
            "languages": list(self.languages),
            "reason": self.reason,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class LibraryPackage:
    """A package of the library pack, importable by guest Python."""

    name: str
    version: str
    licence: str
    summary: str

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "licence": self.licence,
            "summary": self.summary,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    runtimes: tuple[RuntimeHealth, ...]
    versions: Mapping[str, str]
    """``nova``, ``python``, ``platform``, ``wasmtime``, ``guest python``, ``guest quickjs``."""
    packages: tuple[LibraryPackage, ...]
    paths: Mapping[str, str]
    """Where our files are: ``data``, ``cache``, ``guests``."""
    disk_bytes: Mapping[str, int]
    """Room that each of ``paths`` uses."""

    @property
    def well(self) -> bool:
        """Whether the runtime that is used by default works."""
        return any(r.available for r in self.runtimes if r.name is RuntimeName.WASM)

    def to_json(self) -> dict[str, Any]:
        return {
            "well": self.well,
            "runtimes": [runtime.to_json() for runtime in self.runtimes],
            "versions": dict(self.versions),
            "packages": [package.to_json() for package in self.packages],
            "paths": dict(self.paths),
            "disk_bytes": dict(self.disk_bytes),
        }


def check_health(parts: Parts, on_progress: ProgressCallback | None = None) -> Health:
    """Look at everything once.

    Runs one line in each guest: a file that is there may still not run. The first time this
    compiles the guests, and tells ``on_progress`` about it.
    """
    guests = _guests()
    places = {"data": parts.paths.data, "cache": parts.paths.cache}
    if guests is not None:
        places["guests"] = guests.folder
    manifest: Mapping[str, Any] = {} if guests is None else guests.manifest
    return Health(
        runtimes=(
            _wasm(parts, on_progress),
            *(_not_built(name) for name in (RuntimeName.NOVA, RuntimeName.DOCKER)),
            _local(RuntimeSettings.from_environment(parts.environment)),
        ),
        versions=_versions(manifest),
        packages=library_pack(manifest),
        paths={name: str(place) for name, place in places.items()},
        disk_bytes={name: _room_used(place) for name, place in places.items()},
    )


def library_pack(manifest: Mapping[str, Any]) -> tuple[LibraryPackage, ...]:
    """The packages that a guests' manifest names."""
    return tuple(
        LibraryPackage(*(str(entry.get(key, "")) for key in LibraryPackage.__slots__))
        for entry in manifest.get("packages", ())
    )


def _guests() -> Guests | None:
    """None: the guests are not installed; the self-test says so in words."""
    try:
        return Guests()
    except RuntimeUnavailable:
        return None


_SELF_TESTS = {
    Language.PYTHON: "print(6 * 7)",
    Language.JAVASCRIPT: "console.log(6 * 7)",
}


def _wasm(parts: Parts, on_progress: ProgressCallback | None) -> RuntimeHealth:
    for language, source in _SELF_TESTS.items():
        request = ExecutionRequest(language=language, source=source, runtime=RuntimeName.WASM)
        try:
            result = parts.execution.execute(request, on_progress=on_progress)
        except NovaError as error:
            return _unavailable(RuntimeName.WASM, language, error.info())
        if result.status is not Status.FINISHED or result.stdout != "42\n":
            message = f"One line of it ended as {result.status}."
            error_info = result.error or ErrorInfo("health.self_test_failed", message, _REINSTALL)
            return _unavailable(RuntimeName.WASM, language, error_info)
    return RuntimeHealth(
        RuntimeName.WASM,
        available=True,
        sandboxed=True,
        languages=_languages(RuntimeName.WASM),
        # It works all the same, but each start compiles anew.
        reason=getattr(parts.runtime(RuntimeName.WASM), "cache_problem", ""),
    )


_REINSTALL = "Install Nova again; a file of it may be damaged."


def _unavailable(name: RuntimeName, language: Language, error: ErrorInfo) -> RuntimeHealth:
    reason = f"{language}: {error.message}"
    return RuntimeHealth(name, available=False, sandboxed=True, reason=reason, remedy=error.remedy)


def _not_built(name: RuntimeName) -> RuntimeHealth:
    return RuntimeHealth(
        name,
        available=False,
        sandboxed=True,
        reason="not part of this version",
        remedy="Use the wasm runtime.",
    )


def _local(settings: RuntimeSettings) -> RuntimeHealth:
    if settings.allow_local:
        return RuntimeHealth(
            RuntimeName.LOCAL,
            available=True,
            sandboxed=False,
            languages=_languages(RuntimeName.LOCAL),
            reason=f"{ALLOW_LOCAL_VARIABLE}=1 is set: code runs without any protection",
        )
    return RuntimeHealth(
        RuntimeName.LOCAL,
        available=False,
        sandboxed=False,
        reason="switched off, as it protects from nothing",
        remedy=f"Only for code you wrote yourself: set {ALLOW_LOCAL_VARIABLE}=1.",
    )


def _languages(name: RuntimeName) -> tuple[str, ...]:
    return tuple(language for language in Language if language in LANGUAGES[name])


def _versions(manifest: Mapping[str, Any]) -> dict[str, str]:
    # Imported here: it costs more than a whole run, and only this page needs it.
    from importlib import metadata

    try:
        wasmtime = metadata.version("wasmtime")
    except metadata.PackageNotFoundError:
        wasmtime = "not installed"
    return {
        "nova": nova_desktop.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "wasmtime": wasmtime,
        "guest python": str(manifest.get("python", "not found")),
        "guest quickjs": str(manifest.get("quickjs", "not found")),
    }


def _room_used(place: Path) -> int:
    """Bytes of the files below ``place``; 0 when it does not exist. Links are not followed."""
    total = 0
    for folder, _folders, names in os.walk(place):
        for name in names:
            try:
                total += os.lstat(Path(folder, name)).st_size
            except FileNotFoundError:  # another process tidied up meanwhile
                continue
    return total
