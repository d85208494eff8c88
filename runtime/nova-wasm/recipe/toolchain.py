"""The cross compiler: clang and wasm-ld out of the ``ziglang`` wheel.

We call ``zig clang`` and ``zig wasm-ld`` rather than ``zig cc``, because ``zig cc`` turns -O3
into -O2, and because only the linker's own command line lets our objects come before libc's
(that is how common/*.c replaces malloc and localtime). ``zig cc`` is asked once, where the
C library lies that it builds for the target.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PINNED_TOOLS = {"ziglang": "0.17.1", "wasmtime": "50.0.1", "zstandard": "0.25.0"}
"""Development packages that decide about bytes of the artefacts."""

SYSTEM_TOOLS = {
    "cc": "gcc",
    "make": "make",
    "tclsh": "tcl",
    "xz": "xz-utils",
    "patch": "patch",
}
"""Commands of the building machine, and the Debian packages that have them."""

GUEST_DIRECTORY = Path(__file__).resolve().parent.parent
"""``runtime/nova-wasm``."""

TARGET_CPU = "lime1"
"""A named set of WebAssembly features that all current engines have (sign extension, bulk
memory copies, multi-value, ...); no SIMD, threads or exceptions."""

EMULATION = ("signal", "getpid", "process-clocks")
"""Parts of wasi-libc that imitate what WASI lacks; CPython's and QuickJS's sources name them."""

LINK_OPTIONS = ("-target", "wasm32-wasi", f"-mcpu={TARGET_CPU}", "-O3")
"""For ``zig cc``, where it links by itself: configure's probes, and finding libc."""


class BuildError(Exception):
    """A step failed; the message says which and why."""


@dataclass(frozen=True)
class Toolchain:
    """Where the compiler lies and where its caches and logs go."""

    work: Path

    @property
    def zig_directory(self) -> Path:
        import ziglang  # type: ignore[import-untyped]

        return Path(ziglang.__file__).parent

    @property
    def zig(self) -> Path:
        return self.zig_directory / "zig"

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the caller's environment but PATH: it must not decide about bytes."""
        cache = str(self.work / "zig-cache")
        fixed = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.work),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "SOURCE_DATE_EPOCH": "1700000000",
            "PYTHONHASHSEED": "0",
            "ZIG_GLOBAL_CACHE_DIR": cache,
            "ZIG_LOCAL_CACHE_DIR": cache,
        }
        return fixed | more

    def run(
        self,
        command: Sequence[str | Path],
        *,
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
        log: str | None = None,
    ) -> str:
        """Run a command and return its output.

        Raises:
            BuildError: it failed; the end of its output is in the message.
        """
        done = subprocess.run(
            [str(part) for part in command],
            cwd=directory,
            env=self.environment() | dict(environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            check=False,
        )
        if log is not None:
            logs = self.work / "logs"
            logs.mkdir(exist_ok=True)
            (logs / f"{log}.txt").write_text(done.stdout)
        if done.returncode != 0:
            end = "\n".join(done.stdout.splitlines()[-30:])
            raise BuildError(f"{command[0]} failed with status {done.returncode}:\n{end}")
        return done.stdout

    def compile_command(self, options: Iterable[str] = ()) -> list[str]:
        """The C compiler for the guest; its own options first, so that a caller's win."""
        lib = self.zig_directory / "lib"
        headers = [
            lib / "include",
            lib / "libc/include/wasm-wasi-musl",
            lib / "libc/include/generic-musl",
            lib / "libc/include/wasm32-wasi-any",
            lib / "libc/include/any-wasi-any",
        ]
        return [
            str(self.zig),
            "clang",
            "--no-default-config",
            "-target",
            "wasm32-unknown-wasip1-unknown",
            "-O3",
            "-DNDEBUG",
            "-fno-PIC",
            "-fhosted",
            "-fno-stack-protector",
            "-fno-asynchronous-unwind-tables",
            "-fno-ident",
            "-nostdinc",
            *(f"-isystem{path}" for path in headers),
            "-Xclang",
            "-target-cpu",
            "-Xclang",
            TARGET_CPU,
            # memory.copy and memory.fill, but not the rest of the proposal, as lime1 has it.
            "-mno-bulk-memory",
            "-mbulk-memory-opt",
            *(f"-D_WASI_EMULATED_{name.upper().replace('-', '_')}" for name in EMULATION),
            # Paths of the building machine must not reach the artefacts (__FILE__).
            f"-ffile-prefix-map={self.work}=.",
            f"-ffile-prefix-map={GUEST_DIRECTORY}=.",
            *options,
        ]

    def compile(self, source: Path, output: Path, options: Iterable[str] = ()) -> Path:
        """Relative names for what is ours: LLVM's profile names functions after files."""
        output.parent.mkdir(parents=True, exist_ok=True)
        ours = source.is_relative_to(GUEST_DIRECTORY)
        name = source.relative_to(GUEST_DIRECTORY) if ours else source
        self.run(
            [*self.compile_command(options), "-c", name, "-o", output], directory=GUEST_DIRECTORY
        )
        return output

    def compile_once(self, source: Path, output: Path, options: Iterable[str]) -> Path:
        """As ``compile``, for the trees that the recipe unpacked: they do not change."""
        return output if output.is_file() else self.compile(source, output, options)

    def archive(self, output: Path, objects: Iterable[Path]) -> Path:
        output.unlink(missing_ok=True)
        output.parent.mkdir(parents=True, exist_ok=True)
        self.run([self.zig, "ar", "rcsD", output, *objects])
        return output

    def wrappers(self, name: str, options: Iterable[str]) -> dict[str, str]:
        """Shell scripts for foreign build systems, as CC, AR and RANLIB."""
        scripts = self.work / "bin"
        scripts.mkdir(exist_ok=True)
        compiler = scripts / f"{name}-cc"
        compiler.write_text(_COMPILER_SCRIPT.format(python=sys.executable, driver=_DRIVER_PATH))
        commands = {
            "compile": self.compile_command(options),
            "link": [str(self.zig), "cc", *LINK_OPTIONS],
        }
        (scripts / f"{name}-cc.json").write_text(json.dumps(commands))
        for tool in ("ar", "ranlib"):
            (scripts / tool).write_text(f'#!/bin/sh\nexec "{self.zig}" {tool} "$@"\n')
            (scripts / tool).chmod(0o755)
        compiler.chmod(0o755)
        return {
            "CC": str(compiler),
            "CPP": f"{compiler} -E",
            "AR": str(scripts / "ar"),
            "RANLIB": str(scripts / "ranlib"),
            "READELF": "true",
        }

    def link(
        self,
        output: Path,
        objects: Sequence[Path],
        archives: Sequence[Path],
        *,
        stack_bytes: int,
        options: Iterable[str] = (),
    ) -> None:
        """Link a reactor (no main) whose shadow stack comes first, below the data: overflowing
        it then leaves the memory and traps, instead of overwriting data."""
        libc = self._libc()
        self.run(
            [
                self.zig,
                "wasm-ld",
                "--error-limit=0",
                # A function called with another signature than its own traps at run time.
                "--fatal-warnings",
                "--export-memory",
                "--strip-all",
                "--stack-first",
                "--entry=_initialize",
                "--build-id=none",
                "-z",
                f"stack-size={stack_bytes}",
                *options,
                "-o",
                output,
                libc["crt1-reactor.o"],
                *objects,
                *archives,
                libc["libc.a"],
                libc["libzigc.a"],
                libc["libcompiler_rt.a"],
            ]
        )

    def _libc(self) -> dict[str, Path]:
        """File name to path of the parts of the C library, which zig builds when first asked."""
        probe = self.work / "probe"
        probe.mkdir(exist_ok=True)
        source = probe / "probe.c"
        source.write_text("int probe(void) { return 0; }\n")
        emulation = [f"-lwasi-emulated-{name}" for name in EMULATION]
        options = [*LINK_OPTIONS, "-mexec-model=reactor", *emulation]
        output = self.run(
            [self.zig, "cc", *options, "-o", probe / "probe.wasm", source],
            environment={"ZIG_VERBOSE_LINK": "1"},
        )
        command = next(line for line in output.splitlines() if line.startswith("wasm-ld "))
        paths = [Path(word) for word in command.split() if word.endswith((".a", ".o"))]
        return {path.name: path for path in paths}


_DRIVER_PATH = Path(__file__).with_name("driver.py")
_COMPILER_SCRIPT = '#!/bin/sh\nexec "{python}" -I -S "{driver}" "$0.json" "$@"\n'


def check_tools() -> None:
    """Raises:
    BuildError: a tool is missing or of another version.
    """
    for name, wanted in PINNED_TOOLS.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "not installed"
        if found != wanted:
            raise BuildError(f"{name}=={wanted} is needed to build the guests; found: {found}")
    missing = [package for tool, package in SYSTEM_TOOLS.items() if shutil.which(tool) is None]
    if missing:
        raise BuildError(f"system packages are missing: apt-get install {' '.join(missing)}")


class Step:
    """Prints a step's name and how long it took."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self._begun = time.monotonic()
        print(f"{self.name} ...", flush=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        word = "failed" if kind else "done"
        print(f"{self.name}: {word} in {time.monotonic() - self._begun:.1f} s", flush=True)
