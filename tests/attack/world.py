"""The things an attack is after, and the two places in which it is tried."""

from __future__ import annotations

import json
import os
import platform
import resource
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nova_desktop.model import Language

NOBODY = 65534
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class World:
    """Secret file, writable folder and listener on the host. All are there to be reached."""

    root: Path
    canary: str
    port: int
    connections: list[int]
    descriptor: int
    """The secret file, held open by this process, as a careless host would."""

    @property
    def secret(self) -> Path:
        return self.root / "secret.txt"

    @property
    def module(self) -> Path:
        return self.root / "module.mjs"

    @property
    def target(self) -> Path:
        return self.root / "target"

    def fill_in(self, source: str, scratch: str) -> str:
        for name, value in {
            "@SECRET@": str(self.secret),
            "@MODULE@": str(self.module),
            "@TARGET@": str(self.target),
            "@PORT@": str(self.port),
            "@SCRATCH@": scratch,
            "@HOSTNAME@": platform.node(),
            "@KERNEL@": os.uname().release,
        }.items():
            source = source.replace(name, value)
        return source

    def reset_target(self) -> None:
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir(mode=0o777)
        self.target.chmod(0o777)
        victim = self.target / "victim"
        victim.write_text("untouched")
        victim.chmod(0o666)
        os.utime(victim, (1_000_000, 1_000_000))
        if os.geteuid() == 0:
            os.chown(victim, NOBODY, NOBODY)

    def target_is_untouched(self) -> bool:
        victim = self.target / "victim"
        return (
            [p.name for p in self.target.iterdir()] == ["victim"]
            and victim.read_text() == "untouched"
            and victim.stat().st_mtime == 1_000_000
            and victim.stat().st_nlink == 1
        )


@contextmanager
def world() -> Iterator[World]:
    root = Path(tempfile.mkdtemp(prefix="nova-attack-", dir=_fast_folder()))
    root.chmod(0o755)
    connections: list[int] = []
    server = socket.create_server(("127.0.0.1", 0))

    def count() -> None:
        while True:
            try:
                connection, address = server.accept()
            except OSError:
                return
            connections.append(address[1])
            connection.close()

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    canary = "nova-secret-" + secrets.token_hex(16)
    secret = root / "secret.txt"
    secret.write_text(canary)
    secret.chmod(0o644)
    descriptor = os.open(secret, os.O_RDONLY)
    made = World(root, canary, server.getsockname()[1], connections, descriptor)
    made.module.write_text("export const reached = true;\n")
    made.module.chmod(0o644)
    made.reset_target()
    os.environ["NOVA_ATTACK_CANARY"] = made.canary
    try:
        yield made
    finally:
        del os.environ["NOVA_ATTACK_CANARY"]
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)
        os.close(descriptor)
        shutil.rmtree(root, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ControlRun:
    output: str
    """Standard output; of a program that was still running, what it had written."""
    exit_code: int | None
    """None: it was still running when its time was over."""

    @property
    def crashed(self) -> bool:
        return self.exit_code is not None and self.exit_code > 128


def missing_for_controls(language: Language) -> str:
    """Why controls cannot run here, or the empty string."""
    if not shutil.which("unshare") or not Path("/usr/bin/python3").exists():
        return "needs unshare (util-linux) and /usr/bin/python3"
    if language is Language.JAVASCRIPT and not shutil.which("node"):
        return "needs node"
    probe = [*_ordinary_user(), "unshare", "--user", "--net", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True).returncode:
        return "needs user namespaces for ordinary users"
    return ""


def _fast_folder() -> str | None:
    """In memory where there is such a place; one file system for everything, so renames work."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _ordinary_user() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def run_control(made: World, source: str, language: Language, *, seconds: float) -> ControlRun:
    """Run a program natively, as an ordinary user, in private namespaces."""
    scratch = Path(tempfile.mkdtemp(prefix="nova-control-", dir=_fast_folder()))
    try:
        settings = scratch / "settings.json"
        settings.write_text(
            json.dumps(
                {
                    "program": made.fill_in(source, str(scratch)),
                    "language": str(language),
                    "scratch": str(scratch),
                    "port": made.port,
                    "node": shutil.which("node"),
                    "outer_uid": NOBODY if os.geteuid() == 0 else os.getuid(),
                }
            )
        )
        script = scratch / "control_world.py"
        shutil.copyfile(HERE / "control_world.py", script)
        if os.geteuid() == 0:
            for path in (scratch, settings, script):
                os.chown(path, NOBODY, NOBODY)
        command = [
            *_ordinary_user(),
            "unshare",
            "--user",
            "--map-root-user",
            "--net",
            "--ipc",
            "--pid",
            "--fork",
            "--kill-child",
            "/usr/bin/python3",
            "-I",
            str(script),
            str(settings),
        ]
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            "NOVA_ATTACK_CANARY": made.canary,
        }
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=(made.descriptor,),
            )
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
            output.seek(max(0, output.seek(0, os.SEEK_END) - 65536))
            text = output.read().decode("utf-8", "replace")
        if code is not None and code < 0:
            code = 128 - code
        return ControlRun(text, code)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@dataclass(slots=True)
class Cost:
    """What a run cost the host's process."""

    cpu_s: float = 0.0
    peak_growth_bytes: int = 0


@contextmanager
def measured() -> Iterator[Cost]:
    """CPU seconds and the growth of peak resident memory of this process."""
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM: proc_pid_clear_refs(5)
    before = _status_kib("VmRSS")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cost = Cost()
    try:
        yield cost
    finally:
        after = resource.getrusage(resource.RUSAGE_SELF)
        cost.cpu_s = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
        cost.peak_growth_bytes = max(0, _status_kib("VmHWM") - before) * 1024


def _status_kib(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise LookupError(key)
