"""Builds the guests from source, or checks the built ones. README.md tells what and why.

python build.py                      build everything into dist
python build.py --check              compare hashes of recipe and artefacts (seconds)
python build.py --verify             rebuild in an empty folder and compare bytes (minutes)
python build.py --train              renew the profile of CPython (needs llvm-profdata)
python build.py --only NAME ...      some steps, in a folder that was built before
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recipe import (
    cpython,
    libraries,
    licences,
    manifest,
    native,
    profile,
    quickjs,
    sources,
)
from recipe.cpython import Variant
from recipe.toolchain import (
    GUEST_DIRECTORY,
    BuildError,
    Step,
    Toolchain,
    check_tools,
)

if TYPE_CHECKING:
    from recipe.snapshot import Snapshot

GUEST_EXPORTS = ("memory", "nova_alloc", "nova_run")
STDLIB_ARCHIVE = "python-stdlib.zip"
PACKAGES_ARCHIVE = "python-packages.zip"
LIMIT_BYTES = 15 << 20
"""All artefacts together, compressed: they are in the repository, each version for ever."""


class Build:
    """One build in one working folder; each method of ``STEPS`` can be repeated."""

    def __init__(self, work: Path, archives: Path, dist: Path, variant: Variant) -> None:
        if not re.fullmatch(r"[\w/.+-]+", str(work.resolve()), re.ASCII):
            raise BuildError(f"configure and make cannot build in {work}: choose plain --work")
        work.mkdir(parents=True, exist_ok=True)
        self.toolchain = Toolchain(work.resolve())
        self.archives = archives.resolve()
        self.dist = dist
        self.variant = variant
        self.out = self.toolchain.work / "out"
        self.out.mkdir(exist_ok=True)

    def sources(self) -> None:
        sources.fetch(self.archives, self.toolchain)
        sources.verify(self.archives)
        sources.unpack(self.archives, self.toolchain)

    def native(self) -> None:
        native.build(self.toolchain)

    def libraries(self) -> None:
        libraries.build(self.toolchain)

    def cpython(self) -> None:
        cpython.configure(self.toolchain)
        cpython.compile_library(self.toolchain, self.variant)

    def python_link(self) -> None:
        cpython.link(self.toolchain, self.variant, self._unprepared)

    def stdlib(self) -> None:
        self._run_native(
            GUEST_DIRECTORY / "recipe" / "stdlib.py",
            self.toolchain.work / "src" / sources.PYTHON.directory / "Lib",
            self.out / STDLIB_ARCHIVE,
            GUEST_DIRECTORY / "python" / "absent.py",
        )

    def packages(self) -> None:
        self.toolchain.run(
            [
                sys.executable,
                GUEST_DIRECTORY / "packages" / "pack.py",
                "--native",
                self.toolchain.work / "native" / "python",
                "--wheels",
                self.archives / "wheels",
                "--out",
                self.out / PACKAGES_ARCHIVE,
                "--list",
                self.out / "packages.json",
                "--licences",
                self.out / "packages-licences.txt",
            ],
            # pip's own configuration; what it downloads is checked by hash.
            environment={name: value for name, value in os.environ.items() if _is_for_pip(name)},
            log="packages",
        )

    def python_snapshot(self) -> None:
        self._write_snapshot("python", self._unprepared, self._prepare_root())

    def javascript(self) -> None:
        unprepared = self.toolchain.work / "javascript.wasm"
        quickjs.link(self.toolchain, unprepared)
        # An empty root: libc notes at its first look-up which descriptors are folders, and
        # never looks again.
        root = self.toolchain.work / "empty"
        root.mkdir(exist_ok=True)
        self._write_snapshot("javascript", unprepared, root)

    def artefacts(self) -> None:
        names = ("python.wasm", "javascript.wasm", STDLIB_ARCHIVE, PACKAGES_ARCHIVE)
        contents = {name: (self.out / name).read_bytes() for name in names}
        packages = json.loads((self.out / "packages.json").read_text())
        pack_licences = (self.out / "packages-licences.txt").read_text(encoding="utf-8")
        texts = licences.collect(self.toolchain, pack_licences)
        manifest.write(self.dist, contents, packages, texts)
        total = sum(path.stat().st_size for path in self.dist.iterdir())
        print(f"  {self.dist}: {total:,} bytes")
        if total > LIMIT_BYTES:
            raise BuildError(f"the artefacts take {total:,} bytes; the limit is {LIMIT_BYTES:,}")

    def train(self) -> None:
        """Renew the profile, in the folder of an earlier build."""
        self.cpython()
        self.python_link()
        root = self._prepare_root()
        instrumented = _snapshot(self._unprepared, root, *profile.TRAINING_EXPORTS)
        profile.train(self.toolchain, instrumented.module, root)

    def _write_snapshot(self, guest: str, linked: Path, root: Path) -> None:
        snapshot = _snapshot(linked, root)
        (self.out / f"{guest}.wasm").write_bytes(snapshot.module)
        print(f"  image {snapshot.span_bytes:,} bytes, {snapshot.data_bytes:,} in use")

    @property
    def _unprepared(self) -> Path:
        """The linked Python guest before its initialisation."""
        return self.toolchain.work / f"python-{self.variant.value}.wasm"

    def _prepare_root(self) -> Path:
        """What the guest sees as ``/`` while it is initialised."""
        root = self.toolchain.work / "root"
        shutil.rmtree(root, ignore_errors=True)
        library = root / "usr" / "lib"
        shutil.copytree(
            GUEST_DIRECTORY / "python",
            library / "python3.13" / "_nova_guest",
            ignore=shutil.ignore_patterns("__pycache__", "*.c", "patches", "profile"),
        )
        shutil.copyfile(self.out / STDLIB_ARCHIVE, library / "python313.zip")
        shutil.copyfile(self.out / PACKAGES_ARCHIVE, library / "python3-packages.zip")
        for folder in ("work", "tmp"):
            (root / folder).mkdir()
        return root

    def _run_native(self, *command: Path) -> None:
        self.toolchain.run(
            [self.toolchain.work / "native" / "python", *native.OPTIONS, *command],
            # It is not installed: this is where its own library lies.
            directory=self.toolchain.work / "native",
        )


def _snapshot(linked: Path, root: Path, *more_exports: str) -> Snapshot:
    # Here, since comparing hashes (--check) shall need nothing but Python.
    from recipe.snapshot import take_snapshot

    keep = (*GUEST_EXPORTS, *more_exports)
    return take_snapshot(linked.read_bytes(), init="nova_init", keep=keep, root=root)


def _is_for_pip(variable: str) -> bool:
    return variable == "HOME" or variable.startswith("PIP_") or variable.lower().endswith("_proxy")


STEPS: dict[str, Callable[[Build], None]] = {
    "sources": Build.sources,
    "native": Build.native,
    "libraries": Build.libraries,
    "cpython": Build.cpython,
    "python-link": Build.python_link,
    "stdlib": Build.stdlib,
    "packages": Build.packages,
    "python-snapshot": Build.python_snapshot,
    "javascript": Build.javascript,
    "artefacts": Build.artefacts,
}


def run(build: Build, names: list[str]) -> None:
    for name in names:
        with Step(name):
            STEPS[name](build)


def verify(archives: Path) -> list[str]:
    """Build anew in a folder of its own; the names of the files that came out differently."""
    with tempfile.TemporaryDirectory(prefix="nova-verify-") as folder:
        dist = Path(folder, "dist")
        run(Build(Path(folder, "work"), archives, dist, Variant.RELEASE), list(STEPS))
        names = {path.name for where in (dist, manifest.DIST) for path in where.iterdir()}
        return [
            name
            for name in sorted(names)
            if not all((where / name).is_file() for where in (dist, manifest.DIST))
            or (dist / name).read_bytes() != (manifest.DIST / name).read_bytes()
        ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    cache = Path.home() / ".cache" / "nova-desktop" / "guest-build"
    parser.add_argument("--work", type=Path, default=cache / "work", help="working folder")
    parser.add_argument("--sources", type=Path, default=cache / "sources", help="tarballs")
    parser.add_argument("--dist", type=Path, default=manifest.DIST, help="where artefacts go")
    parser.add_argument("--quick", action="store_true", help="no profile, no LTO: to try things")
    parser.add_argument("--only", nargs="+", choices=STEPS, metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--from", dest="first", choices=STEPS, help="start at this step")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--train", action="store_true")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    try:
        if arguments.check:
            found = manifest.differences()
            print("\n".join(found) or "dist is what this recipe builds, by its hashes")
            return 1 if found else 0
        check_tools()
        if arguments.verify:
            found = verify(arguments.sources)
            print("\n".join(f"differs: {name}" for name in found) or "every byte is the same")
            return 1 if found else 0
        variant = Variant.QUICK if arguments.quick else Variant.RELEASE
        if arguments.train:
            variant = Variant.TRAINING
        build = Build(arguments.work, arguments.sources, arguments.dist, variant)
        if arguments.train:
            with Step("train"):
                build.train()
            return 0
        names = list(STEPS)
        if arguments.first:
            names = names[names.index(arguments.first) :]
        run(build, arguments.only or names)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
