"""Builds the library pack: one archive of compiled pure-Python packages.

Usage: pack.py --native PYTHON --wheels FOLDER --out ARCHIVE --list JSON --licences TEXT

The wheels named in ``packages.toml`` are taken from FOLDER, or downloaded into it by pip, which
checks their hashes; they are checked here again. The archive is written by the guest's native
CPython (``archive.py``): marshal format and zlib are then those of the recipe, and the same input
gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

PLATFORMS = ("any", "manylinux2014_x86_64")
"""markupsafe has no pure wheel; of this one only the Python files are taken."""


class PackError(Exception):
    """The pack cannot be built; the message says why."""


@dataclass(frozen=True, slots=True)
class Wheel:
    name: str
    version: str
    file: str
    sha256: str


def read_wheels() -> list[Wheel]:
    document = tomllib.loads((HERE / "packages.toml").read_text(encoding="utf-8"))
    return [
        Wheel(table["name"], table["version"], table["wheel"], table["sha256"])
        for table in document["package"]
    ]


def fetch(wheels: list[Wheel], folder: Path) -> None:
    """Download what is missing, then check everything.

    Raises:
        PackError: a wheel cannot be had, or has another hash.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [wheel for wheel in wheels if not (folder / wheel.file).is_file()]
    if missing:
        download(missing, folder)
    for wheel in wheels:
        digest = hashlib.sha256((folder / wheel.file).read_bytes()).hexdigest()
        if digest != wheel.sha256:
            raise PackError(f"{wheel.file} has sha256 {digest}, expected {wheel.sha256}")


def download(wheels: list[Wheel], folder: Path) -> None:
    lines = [f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.writelines(lines)
        requirements.flush()
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--require-hashes"]
        command += ["--only-binary", ":all:", "--python-version", "3.13"]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        command += ["--dest", str(folder), "--requirement", requirements.name]
        done = subprocess.run(command, check=False)
    if done.returncode:
        raise PackError(
            f"pip could not download {', '.join(wheel.file for wheel in wheels)}; "
            f"put the wheels into {folder} by hand"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--native", "--wheels", "--out", "--list", "--licences"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args()
    try:
        fetch(read_wheels(), options.wheels)
    except PackError as error:
        sys.exit(f"pack.py: {error}")
    # Without cached modules of its own: they would decide which strings are interned, and so
    # the marshalled form of equal strings.
    command = [options.native, "-I", "-S", "-B", "-X", "pycache_prefix=/nonexistent"]
    command += [HERE / "archive.py", options.wheels]
    command += [options.out, options.list, options.licences]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
