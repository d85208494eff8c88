"""The ``local`` runtime: the host's own interpreters, confined by nothing. Unsafe by design.

For code that its owner wrote. The program gets a private copy of the workspace as its current
directory, so that the change plan and the owner's word work as everywhere; but it runs with all
of the owner's rights and can reach everything else. ``enforced`` is therefore empty. Its limits
on time and output are a convenience; memory is not limited.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from nova_desktop.hostfs import FileKind, open_directory
from nova_desktop.model import (
    Cancellation,
    ErrorInfo,
    InvalidRequest,
    Language,
    Limits,
    OutputCallback,
    ProgressCallback,
    RuntimeUnavailable,
    Status,
    Stream,
)
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.output import StreamBuffer
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram

if TYPE_CHECKING:
    from nova_desktop.hostfs.posix import Directory

_COMMANDS = {
    Language.PYTHON: ("python3", "-X", "utf8"),
    Language.JAVASCRIPT: ("node",),
    Language.BASH: ("bash", "--noprofile", "--norc"),
}
_SUFFIXES = {Language.PYTHON: ".py", Language.JAVASCRIPT: ".mjs", Language.BASH: ".sh"}
_CHUNK_BYTES = 64 << 10
_POLL_S = 0.05
_GRACE_S = 0.5
"""Time between asking the program's processes to end and ending them."""
_GUEST_WORK = "/work"


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """One entry of the private folder after the run."""

    path: str
    is_directory: bool
    size: int
    mode: int
    mtime_ns: int
    staged_as: str | None
    root: Path
    content_changed: bool = True
    """Unknown, so whoever asks compares the content."""

    def chunks(self) -> Iterator[bytes]:
        *folders, name = self.path.split("/")
        with open_directory(self.root) as root, root.descend(folders) as folder:
            content, _ = folder.read_file(name, limit=self.size)
        yield content


class LocalFiles:
    """``/work`` as a private folder; leaving the context removes it."""

    def __init__(self) -> None:
        self._base = Path(tempfile.mkdtemp(prefix="nova-local-"))
        self.root = self._base / "work"
        self.root.mkdir(mode=0o700)
        self.programs = self._base / "program"
        self.programs.mkdir(mode=0o700)
        self._staged: set[str] = set()

    def stage_directory(self, path: str, *, mode: int = 0o755, mtime_ns: int = 0) -> None:
        # Always ours to write to: the copy's folders must take new files.
        folder = self.root / path
        folder.mkdir(mode=(mode | 0o700) & 0o777)
        os.utime(folder, ns=(mtime_ns, mtime_ns))
        self._staged.add(path)

    def stage_file(
        self, path: str, content: bytes, *, mode: int = 0o644, mtime_ns: int = 0
    ) -> None:
        file = self.root / path
        file.write_bytes(content)
        file.chmod(mode & 0o777)
        os.utime(file, ns=(mtime_ns, mtime_ns))
        self._staged.add(path)

    def walk(self) -> Iterator[LocalEntry]:
        with open_directory(self.root) as root:
            yield from self._walk(root, ())

    def _walk(self, directory: Directory, path: tuple[str, ...]) -> Iterator[LocalEntry]:
        for entry in directory.scan():
            kind = entry.state.kind
            if kind not in {FileKind.FILE, FileKind.DIRECTORY}:
                continue  # links, pipes and sockets are not taken back
            full = "/".join((*path, entry.name))
            yield LocalEntry(
                path=full,
                is_directory=kind is FileKind.DIRECTORY,
                size=0 if kind is FileKind.DIRECTORY else entry.state.size,
                mode=entry.state.permissions,
                mtime_ns=entry.state.mtime_ns,
                staged_as=full if full in self._staged else None,
                root=self.root,
            )
            if kind is FileKind.DIRECTORY:
                with directory.folder(entry.name) as inner:
                    yield from self._walk(inner, (*path, entry.name))

    def __enter__(self) -> LocalFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _open_up(self._base)
        shutil.rmtree(self._base, ignore_errors=True)


def _open_up(base: Path) -> None:
    """Give back the permissions that the program took from its folders: this is a copy of the
    owner's files, and it must not stay behind because it cannot be listed.
    """
    for folder, names, _ in os.walk(base):  # top down: a folder is listed after its turn here
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)


class LocalRuntime:
    """``search_path``: where the interpreters are looked for, as in ``PATH``."""

    def __init__(self, search_path: str) -> None:
        self._search_path = search_path

    def prepare(
        self,
        language: Language,
        progress: ProgressCallback | None = None,  # noqa: ARG002 - nothing takes long
    ) -> None:
        """Raises:
        RuntimeUnavailable: the interpreter is not installed, or this system has no
            process groups.
        """
        self._interpreter(language)

    def new_files(self, language: Language, budget: MemoryBudget) -> LocalFiles:  # noqa: ARG002
        """The folder lies on the disk, so nothing is charged."""
        return LocalFiles()

    def run(
        self,
        program: GuestProgram,
        files: LocalFiles,
        *,
        limits: Limits,
        budget: MemoryBudget,
        cancellation: Cancellation,
        on_output: OutputCallback | None = None,
    ) -> GuestOutcome:
        if program.timezone != "UTC":
            self._check_timezone(program.timezone)
        command = [*self._interpreter(program.language), *self._target(program, files)]
        started = time.monotonic_ns()
        with tempfile.TemporaryFile() as stdin:
            stdin.write(program.stdin or b"")
            stdin.seek(0)
            process = subprocess.Popen(
                [*command, *program.arguments],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=files.root,
                env=self._environment(program, files),
                start_new_session=True,
            )
        watch = _Watch(process, limits, budget, cancellation, on_output)
        with process:
            try:
                ending = watch.until_over()
            finally:
                watch.end_group()
        return GuestOutcome(
            status=ending.status,
            exit_code=ending.exit_code,
            stdout=watch.kept[Stream.STDOUT].content(),
            stderr=watch.kept[Stream.STDERR].content(),
            dropped_stdout=watch.kept[Stream.STDOUT].dropped,
            dropped_stderr=watch.kept[Stream.STDERR].dropped,
            error=ending.error,
            duration_ns=time.monotonic_ns() - started,
        )

    def close(self) -> None:
        pass

    def _interpreter(self, language: Language) -> list[str]:
        if os.name != "posix":
            raise RuntimeUnavailable(
                "runtime.local_unsupported",
                "The local runtime needs process groups, which this system does not have.",
                "Use --runtime wasm.",
            )
        name, *options = _COMMANDS[language]
        found = shutil.which(name, path=self._search_path)
        if found is None:
            raise RuntimeUnavailable(
                "runtime.interpreter_missing",
                f"{name} is not installed here, so the local runtime cannot run {language}.",
                f"Install {name}, or use --runtime wasm.",
                program=name,
            )
        return [found, *options]

    def _target(self, program: GuestProgram, files: LocalFiles) -> list[str]:
        if program.entry is not None:
            return [str(files.root / program.entry.removeprefix(f"{_GUEST_WORK}/"))]
        # Beside the workspace, not in it: the program is no file of the owner's.
        name = Path(Path(program.source_name).name.strip("<>") or "code")
        # Its own suffix where it has one: node takes .mjs and .cjs differently.
        suffix = name.suffix or _SUFFIXES[program.language]
        file = files.programs / f"{name.stem}{suffix}"
        file.write_text(program.source or "", encoding="utf-8", newline="")
        return [str(file)]

    def _check_timezone(self, name: str) -> None:
        """The C library would take an unknown zone for UTC and say nothing."""
        import zoneinfo

        try:
            zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidRequest(
                "request.unknown_timezone",
                f"There is no time zone {name!r} on this machine.",
                "Use an IANA name, for example Europe/Berlin, or UTC.",
            ) from None

    def _environment(self, program: GuestProgram, files: LocalFiles) -> dict[str, str]:
        """What the program was given, the way to other programs, and its folder as home."""
        environment = dict(program.environment)
        environment["PATH"] = self._search_path
        environment["TMPDIR"] = tempfile.gettempdir()
        environment["PYTHONPATH"] = str(files.root)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["HOME"] = str(files.root)
        return environment


@dataclass(frozen=True, slots=True)
class _Ending:
    status: Status
    exit_code: int | None
    error: ErrorInfo | None = None


class _Watch:
    """Reads a process's output until it is over, its time is, or its owner stops it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        limits: Limits,
        budget: MemoryBudget,
        cancellation: Cancellation,
        on_output: OutputCallback | None,
    ) -> None:
        self._process = process
        self._limits = limits
        self._cancellation = cancellation
        self._on_output = on_output
        self._total = 0
        self.kept = {stream: StreamBuffer(limits.output_bytes, budget) for stream in Stream}

    def until_over(self) -> _Ending:
        deadline = time.monotonic() + self._limits.timeout_s
        ending: _Ending | None = None
        with selectors.DefaultSelector() as selector:
            for pipe, stream in (
                (self._process.stdout, Stream.STDOUT),
                (self._process.stderr, Stream.STDERR),
            ):
                if pipe is not None:
                    selector.register(pipe, selectors.EVENT_READ, stream)
            while ending is None:
                for key, _ in selector.select(_POLL_S):
                    data = os.read(key.fd, _CHUNK_BYTES)
                    if data:
                        self._take(key.data, data)
                    else:
                        selector.unregister(key.fileobj)
                ending = self._reason_to_end(deadline)
                # Over when the program is, also while a child that it left holds the pipes.
                if ending is None and self._is_over():
                    self._drain(selector)
                    self.end_group()
                    ending = self._of_exit_code(self._process.returncode)
        return ending

    def _take(self, stream: Stream, data: bytes) -> None:
        self._total += len(data)
        self.kept[stream].write(data)
        if self._on_output is not None:
            self._on_output(stream, data)

    def _drain(self, selector: selectors.BaseSelector) -> None:
        """What lies in the pipes already; bounded by their size."""
        for key in list(selector.get_map().values()):
            os.set_blocking(key.fd, False)
            try:
                while self._total <= self._limits.output_total_bytes and (
                    data := os.read(key.fd, _CHUNK_BYTES)
                ):
                    self._take(key.data, data)
            except BlockingIOError:
                continue

    def _reason_to_end(self, deadline: float) -> _Ending | None:
        if self._cancellation.requested:
            error = ErrorInfo("run.stopped", "The run was stopped.")
            return _Ending(Status.STOPPED, None, error)
        if time.monotonic() >= deadline:
            error = ErrorInfo(
                "run.timed_out",
                f"The program was still running after its limit of {self._limits.timeout_s:g} s.",
                "Raise the limit with --timeout, or let the program do less.",
            )
            return _Ending(Status.TIMED_OUT, None, error)
        if self._total > self._limits.output_total_bytes:
            error = ErrorInfo(
                "run.output_limit",
                f"The program wrote more than {self._limits.output_total_bytes:,} bytes.",
                "Write long results to a file instead.",
            )
            return _Ending(Status.LIMIT, None, error)
        return None

    def _of_exit_code(self, code: int) -> _Ending:
        if code == 0:
            return _Ending(Status.FINISHED, 0)
        if code > 0:
            return _Ending(Status.FAILED, code)
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        error = ErrorInfo("guest.signal", f"The program was ended by the signal {name}.")
        return _Ending(Status.FAILED, None, error)

    def _is_over(self) -> bool:
        # Looked at without reaping (WNOWAIT): the group's number stays ours until it was ended.
        state = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return state is not None

    def end_group(self) -> None:
        """End every process of the program's group, also those that it left behind."""
        if self._process.returncode is not None:
            return
        group = self._process.pid
        if not self._is_over():
            os.killpg(group, signal.SIGTERM)
            give_up = time.monotonic() + _GRACE_S
            while not self._is_over() and time.monotonic() < give_up:
                time.sleep(_POLL_S / 5)
        os.killpg(group, signal.SIGKILL)
        self._process.wait()
