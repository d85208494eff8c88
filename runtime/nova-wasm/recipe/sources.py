"""The tarballs that the guests are built from: fetched, verified, unpacked.

They are the original tarballs of Debian's source packages, suite trixie. On a Debian machine
``apt-get`` fetches them from the mirror that the machine itself uses, and checks them against
the signed index; elsewhere, put files of these names and hashes into the folder.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from recipe.toolchain import GUEST_DIRECTORY, BuildError, Toolchain

SUITE = "trixie"
HASHES = GUEST_DIRECTORY / "sources.sha256"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Source:
    package: str
    """Debian source package."""
    archive: str
    directory: str
    """Top folder inside the archive."""
    version: str


PYTHON = Source("python3.13", "python3.13_3.13.5.orig.tar.xz", "Python-3.13.5", "3.13.5")
QUICKJS = Source("quickjs", "quickjs_2025.04.26.orig.tar.xz", "quickjs-2025.04.26", "2025-04-26")
SQLITE = Source("sqlite3", "sqlite3_3.46.1.orig.tar.xz", "sqlite3-3.46.1", "3.46.1")
ZLIB = Source("zlib", "zlib_1.3.dfsg+really1.3.1.orig.tar.gz", "zlib-1.3.1", "1.3.1")
BZIP2 = Source("bzip2", "bzip2_1.0.8.orig.tar.gz", "bzip2-1.0.8", "1.0.8")
XZ = Source("xz-utils", "xz-utils_5.8.1.orig.tar.xz", "xz-5.8.1", "5.8.1")
ALL = (PYTHON, QUICKJS, SQLITE, ZLIB, BZIP2, XZ)


def expected_hashes() -> dict[str, str]:
    lines = HASHES.read_text().splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def verify(folder: Path) -> None:
    """Raises:
    BuildError: an archive is missing or is not the one the recipe was written for.
    """
    for name, wanted in expected_hashes().items():
        path = folder / name
        if not path.is_file():
            raise BuildError(f"{name} is missing in {folder}")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != wanted:
            raise BuildError(f"{path} has sha256 {found}, the recipe needs {wanted}")


def fetch(folder: Path, toolchain: Toolchain) -> None:
    """Fetch what is missing, with a private configuration of apt that root need not own."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [source for source in ALL if not (folder / source.archive).is_file()]
    if not missing:
        return
    if shutil.which("apt-get") is None or not KEYRING.is_file():
        names = ", ".join(source.archive for source in missing)
        raise BuildError(f"no apt here; put these files into {folder}: {names}")
    state = toolchain.work / "apt"
    for part in ("lists/partial", "cache"):
        (state / part).mkdir(parents=True, exist_ok=True)
    sources_list = state / "sources.list"
    sources_list.write_text(f"deb-src [signed-by={KEYRING}] {_mirror()} {SUITE} main\n")
    options = [
        f"-oDir::Etc::sourcelist={sources_list}",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::Lists={state / 'lists'}",
        f"-oDir::Cache={state / 'cache'}",
        "-oDebug::NoLocking=1",
    ]
    toolchain.run(["apt-get", *options, "update"], log="apt-update")
    for source in missing:
        toolchain.run(
            [
                "apt-get",
                *options,
                "source",
                "--only-source",
                "--download-only",
                "--tar-only",
                source.package,
            ],
            directory=folder,
            log=f"apt-{source.package}",
        )


def _mirror() -> str:
    """The Debian mirror that this machine is configured with.

    Raises:
        BuildError: none is found.
    """
    etc = Path("/etc/apt")
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        for line in path.read_text().splitlines():
            if line.startswith("URIs:"):
                return line.split()[1]
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]:
        for line in path.read_text().splitlines() if path.is_file() else ():
            words = [word for word in line.split() if "://" in word]
            if line.startswith("deb ") and words:
                return words[0]
    raise BuildError("this machine's apt names no mirror")


def unpack(folder: Path, toolchain: Toolchain) -> None:
    """Unpack all archives into ``src`` and apply our patches there; CPython also as it is into
    ``native-src``, since our patches make a CPython for 32-bit addresses."""
    trees = toolchain.work / "src"
    native = toolchain.work / "native-src"
    for where, wanted in ((trees, ALL), (native, (PYTHON,))):
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir(parents=True)
        for source in wanted:
            toolchain.run(
                ["tar", "-x", "--no-same-owner", "-f", folder / source.archive, "-C", where]
            )
    for source, patches in ((PYTHON, "python/patches"), (QUICKJS, "javascript/patches")):
        for patch in sorted((GUEST_DIRECTORY / patches).glob("*.patch")):
            toolchain.run(
                [
                    "patch",
                    "--strip=1",
                    "--forward",
                    "--no-backup-if-mismatch",
                    "--fuzz=0",
                    f"--input={patch}",
                ],
                directory=trees / source.directory,
            )
