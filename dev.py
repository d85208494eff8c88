"""Set-up and every developer command, with nothing but Python's standard library.

    python3 dev.py help

``make X`` is the same as ``python3 dev.py X``, for machines that have make.

What a command needs is installed first, into ``.venv`` beside this file: exactly the versions
and hashes of ``requirements/*.txt``, and the project itself by a path file, so that nothing is
built and the network is used once. The steps and their reasons stand in ``Environment``.

This file must at least *parse* on the oldest Python 3 somebody may start it with (3.6), so that
such a person reads one sentence and not a SyntaxError: newer grammar (``match``, ``:=``) is
not used here, and newer library calls come only after the version was checked.
"""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time

OLDEST, NEWEST = (3, 11), (3, 14)


def _hand_over() -> int:
    """Run this file again under a Python of PATH that is new enough, or say what is needed."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        newer = shutil.which("python3.%d" % minor)  # noqa: UP031 - runs on Python 3.6
        # A shim of a version manager may exist and still not run.
        if newer and not subprocess.call([newer, "-c", "import venv"], stderr=subprocess.DEVNULL):
            return subprocess.call([newer, os.path.abspath(__file__)] + sys.argv[1:])  # noqa: PTH100, RUF005
    sys.stderr.write(
        "Nova Desktop needs Python %d.%d or newer, and this is %d.%d: install one "  # noqa: UP031
        "(Debian 12, Ubuntu 24.04: apt-get install python3) and run the command again.\n"
        % (OLDEST + sys.version_info[:2])
    )
    return 2


if __name__ == "__main__" and sys.version_info < OLDEST:
    sys.exit(_hand_over())

from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402

ROOT = Path(__file__).resolve().parent
WINDOWS = os.name == "nt"


class SetUpError(Exception):
    """Something the person at the keyboard must do first; the text is one line."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- The environment ---------------------------------------------------------------------


class Environment:
    """The virtual environment at the root of the checkout, and how it comes to be.

    A stamp inside it tells for which Python and which locks it is *complete*. Whatever does
    not match is made anew, always from nothing: one way to build it, whatever was there.

    1. One set-up at a time: the others wait on ``.venv.lock``.
    2. An environment of ours moves aside to ``.venv.old`` and comes back if the new one cannot
       be made (no network). A ``.venv`` that we did not make is kept as ``.venv.yours``.
    3. The stamp is written last, and atomically: an interrupted set-up is never taken for one.
    4. Nothing inside depends on where the folder is: programs are started as
       ``python -m``, the path file is relative. So a checkout can be moved, and its path may
       hold spaces and any letters (``.pth`` files are read in the locale's encoding before 3.13).
    """

    venv_options: tuple[str, ...] = ()

    def __init__(self, root: Path, name: str = ".venv") -> None:
        self.root = root
        self.folder = root / name
        self.python = self.folder / ("Scripts/python.exe" if WINDOWS else "bin/python")
        self._stamp = self.folder / "nova-setup.json"
        self._old = root / f"{name}.old"

    def ensure(self, lock_name: str) -> Path:
        """The interpreter of an environment that has everything in that lock.

        Raises:
            SetUpError: it cannot be made here.
        """
        if not self._is_ready(lock_name):
            with self._only_one_set_up():
                self._recover()
                if not self._is_ready(lock_name):
                    self._replace(lock_name)
        return self.python

    def lock_file(self, lock_name: str) -> Path:
        return self.root / "requirements" / f"{lock_name}.txt"

    def _wanted_stamp(self, lock_name: str) -> dict[str, str]:
        """``dev`` holds all that ``run`` holds, so it is stamped for both."""
        names = ["run", "dev"] if lock_name == "dev" else [lock_name]
        stamp = {name: _sha256(self.lock_file(name)) for name in names}
        # Wheels are chosen by this: version, platform and architecture of the interpreter.
        stamp["python"] = f"{sys.implementation.cache_tag} {sysconfig.get_platform()}"
        return stamp

    def _is_ready(self, lock_name: str) -> bool:
        try:
            stamp = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        wanted = self._wanted_stamp(lock_name)
        return stamp.items() >= wanted.items() and self.python.exists()

    @contextlib.contextmanager
    def _only_one_set_up(self) -> Iterator[None]:
        try:
            handle = (self.root / ".venv.lock").open("w", encoding="utf-8")
        except OSError as error:
            raise SetUpError(
                f"Cannot write to {self.root} ({error.strerror}): clone it into a folder of yours."
            ) from error
        with handle:
            waiting = False
            while not _try_lock(handle.fileno()):
                if not waiting:
                    say("Another set-up of this folder is under way; waiting for it.")
                    waiting = True
                time.sleep(0.3)
            yield

    def _recover(self) -> None:
        """Tidy up after a set-up that was killed."""
        if self._old.exists():
            if self._made_here() and not self._stamp_says_complete():
                shutil.rmtree(self.folder)
            if self.folder.exists():
                shutil.rmtree(self._old)
            else:
                self._old.rename(self.folder)

    def _made_here(self) -> bool:
        return self._stamp.exists() and not self.folder.is_symlink()

    def _stamp_says_complete(self) -> bool:
        return "python" in self._stamp.read_text(encoding="utf-8")

    def _replace(self, lock_name: str) -> None:
        lock = self.lock_file(lock_name)
        say(f"Setting up {self.folder}: {_lock_summary(lock)}, for Python {_version()}.")
        if not _can_make_environments():
            version = "{}.{}".format(*sys.version_info)
            ensure_system_packages([f"python{version}-venv"], "to make a virtual environment")
        started = time.monotonic()
        self._move_aside()
        try:
            self.folder.mkdir()
            self._stamp.write_text("{}", encoding="utf-8")
            _run_quietly([_base_python(), "-m", "venv", *self.venv_options, str(self.folder)])
            self._install(lock)
            self._add_project()
            finished = self._stamp.with_suffix(".new")
            finished.write_text(json.dumps(self._wanted_stamp(lock_name)), encoding="utf-8")
            finished.replace(self._stamp)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            if self._old.exists():
                self._old.rename(self.folder)
            raise
        shutil.rmtree(self._old, ignore_errors=True)
        say(f"Set up in {time.monotonic() - started:.0f} s.")

    def _move_aside(self) -> None:
        if self._made_here():
            self.folder.rename(self._old)
        elif self.folder.exists() or self.folder.is_symlink():
            kept = self.root / f"{self.folder.name}.yours"
            number = 1
            while kept.exists() or kept.is_symlink():
                number += 1
                kept = self.root / f"{self.folder.name}.yours-{number}"
            self.folder.rename(kept)
            say(f"{self.folder.name} was not made by dev.py; it is kept as {kept.name}.")

    def _install(self, lock: Path) -> None:
        """Only wheels, only with a hash of the lock: no foreign code runs while installing."""
        command = [str(self.python), "-m", "pip", "install", "--progress-bar", "off"]
        command += ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
        environment = dict(os.environ)
        # A person's own pip settings (mirror, proxy, certificates) hold; those that would
        # install elsewhere than into this environment do not.
        for name in ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_CONSTRAINT", "PYTHONPATH"):
            environment.pop(name, None)
        environment.update(PIP_USER="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
        total = _count_packages(lock.read_text(encoding="utf-8"))
        _run_quietly(command, environment, _pip_progress(total))

    def _add_project(self) -> None:
        libraries = subprocess.check_output(
            [str(self.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        ).strip()
        path_file = Path(libraries) / "nova-desktop.pth"
        # Relative to the folder that holds it, thus ASCII whatever the checkout is called.
        path_file.write_text(os.path.relpath(self.root, libraries) + "\n", encoding="ascii")
        if WINDOWS:
            launcher = self.python.with_name("nova.cmd")
            launcher.write_text('@"%~dp0python.exe" -m nova_desktop %*\n', encoding="ascii")
        else:
            launcher = self.python.with_name("nova")
            launcher.write_text(
                "#!/bin/sh\n"
                'exec "$(dirname -- "$(readlink -f -- "$0")")/python" -m nova_desktop "$@"\n',
                encoding="ascii",
            )
            launcher.chmod(0o755)


def _sha256(path: Path) -> str:
    # Line ends as in the repository, also where git writes CRLF.
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _version() -> str:
    return "{}.{}.{}".format(*sys.version_info)


def _lock_summary(lock: Path) -> str:
    """What ``dev.py lock`` noted in the first line ("16 packages, about 60 MB")."""
    return lock.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def _count_packages(lock_text: str) -> int:
    return len(re.findall(r"^[\w.-]+==", lock_text, flags=re.MULTILINE))


def _base_python() -> str:
    """The interpreter itself, also when this runs inside some virtual environment."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def _can_make_environments() -> bool:
    """Debian splits ``ensurepip`` off into the package python3.X-venv."""
    probe = [_base_python(), "-c", "import ensurepip, venv"]
    return subprocess.call(probe, stderr=subprocess.DEVNULL) == 0


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _run_quietly(
    command: Sequence[str],
    environment: dict[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a step of the set-up; its output is shown only when it fails."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        for line in process.stdout:
            lines.append(line)
            if on_line:
                on_line(line)
    if process.returncode:
        sys.stderr.writelines(lines[-15:])
        raise SetUpError(
            f"The set-up did not get through ({shlex.join(command[:4])} …, above). Nothing was "
            "changed; check the network and run the command again."
        )


def _pip_progress(total: int) -> Callable[[str], None]:
    done = 0

    def on_line(line: str) -> None:
        nonlocal done
        if line.startswith("Collecting "):
            done += 1
            name = line.split()[1].partition("==")[0]
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\x1b[K  {done}/{total} {name}")
            elif done % 10 == 0:
                say(f"  {done}/{total} packages")
        elif line.startswith("Installing collected packages"):
            if sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K")
            say("  unpacking")

    return on_line


def ensure_system_packages(names: Sequence[str], purpose: str) -> None:
    """Install Debian packages that a command cannot do without; only root may, and is told.

    Raises:
        SetUpError: they are missing and this user cannot install them; names the command.
    """
    if shutil.which("dpkg-query") is None:
        raise SetUpError(f"Please install, {purpose}, what Debian calls: {' '.join(names)}.")
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    missing = [
        name
        for name in names
        if subprocess.run([*query, name], capture_output=True, check=False).stdout != b"installed"
    ]
    if not missing:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        raise SetUpError(f"Some system packages are missing {purpose}: sudo {shlex.join(install)}")
    say(f"Installing system packages {purpose}: {' '.join(missing)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run_quietly(["apt-get", "update", "-q"], quiet)
    _run_quietly([*install, "-q"], quiet)


# --- Commands ----------------------------------------------------------------------------

ENVIRONMENT = Environment(ROOT)
GUESTS_ENVIRONMENT = Environment(ROOT, ".venv.guests")
"""Apart, since its compiler is larger than all the rest together and few people need it."""
GUEST_RECIPE = ROOT / "runtime" / "nova-wasm" / "build.py"


def call(*command: str | Path) -> int:
    """Run a program in the checkout, in the foreground; the result is its exit code."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("PYTHONPATH", "PYTHONHOME"):
        environment.pop(name, None)
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Ctrl-C reached the program too; it tidies up and ends by itself.
            continue


def in_order(*steps: Callable[[], int]) -> int:
    """Run all steps, so that one run shows everything that is wrong; the first bad exit code."""
    codes = [step() for step in steps]
    return next((code for code in codes if code), 0)


def python(*arguments: str | Path, lock: str = "dev") -> int:
    return call(ENVIRONMENT.ensure(lock), *arguments)


def run(arguments: Sequence[str]) -> int:
    return python(ROOT / "examples" / "sales" / "run.py", *arguments, lock="run")


def test(arguments: Sequence[str]) -> int:
    return python("-m", "pytest", "-m", "not slow", *arguments)


def test_slow(arguments: Sequence[str]) -> int:
    return python("-m", "pytest", "-m", "slow", *arguments)


def lint(arguments: Sequence[str]) -> int:
    imports = "from importlinter.cli import lint_imports_command as run; run()"
    return in_order(
        lambda: python("-m", "ruff", "check", *arguments),
        lambda: python("-m", "ruff", "format", "--check"),
        lambda: python("-m", "mypy"),
        lambda: python("-c", imports),
    )


def check(arguments: Sequence[str]) -> int:
    return in_order(lambda: lint([]), lambda: guests_check([]), lambda: test(arguments))


def guests(arguments: Sequence[str]) -> int:
    return _recipe(arguments)


def guests_check(arguments: Sequence[str]) -> int:
    return python(GUEST_RECIPE, "--check", *arguments)


def guests_verify(arguments: Sequence[str]) -> int:
    return _recipe(["--verify", *arguments])


def _recipe(arguments: Sequence[str]) -> int:
    ask = "import sys; sys.path.insert(0, sys.argv[1]); from recipe.toolchain import SYSTEM_TOOLS; "
    ask += "print(*SYSTEM_TOOLS.values())"
    packages = subprocess.check_output(
        [sys.executable, "-c", ask, str(GUEST_RECIPE.parent)], encoding="utf-8"
    )
    # gcc only recommends the headers that every native program needs.
    ensure_system_packages([*packages.split(), "libc6-dev"], "to build the guests")
    return call(GUESTS_ENVIRONMENT.ensure("guests"), GUEST_RECIPE, *arguments)


def bench(arguments: Sequence[str]) -> int:
    return python("-m", "bench", *arguments)


def lock(arguments: Sequence[str]) -> int:
    """Resolve pyproject.toml for every platform and Python at once (needs ``uv``).

    What is pinned stays as it is where it can; ``lock --upgrade`` takes the newest of all.
    """
    uv = shutil.which("uv")
    if uv is None:
        raise SetUpError("The locks are made by uv: pip install uv, then run this again.")
    for name in ("run", "dev", "guests"):
        target = ENVIRONMENT.lock_file(name)
        extras: list[str] = []
        if name != "run":
            # The same version of everything that both hold.
            extras = ["--extra", name, "--constraint", str(ENVIRONMENT.lock_file("run"))]
        command = [uv, "pip", "compile", "--universal", "--generate-hashes", "--no-config"]
        command += ["--python-version", "{}.{}".format(*OLDEST), "--no-header", "--no-annotate"]
        command += ["--no-emit-index-url", "--quiet", "--output-file", str(target)]
        subprocess.check_call([*command, *extras, *arguments, "pyproject.toml"], cwd=ROOT)
        text = target.read_text(encoding="utf-8")
        count, size = _count_packages(text), _installed_megabytes(text)
        head = f"# {count} packages, about {size} MB installed\n"
        head += "# Made from pyproject.toml by: python3 dev.py lock\n"
        target.write_text(head + text, encoding="utf-8")
        say(f"{target.name}: {count} packages, {size} MB")
    return 0


def _installed_megabytes(lock_text: str) -> int:
    """Install a lock into a fresh environment: proof that it installs, and its size."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="nova-lock-") as root:
        trial = Environment(Path(root))
        trial.lock_file("run").parent.mkdir()
        trial.lock_file("run").write_text("# trial\n" + lock_text, encoding="utf-8")
        trial.ensure("run")
        paths = (Path(folder, name) for folder, _, names in os.walk(trial.folder) for name in names)
        return sum(path.lstat().st_size for path in paths) // 1_000_000 + 1


def show_help(_arguments: Sequence[str]) -> int:
    print("python3 dev.py COMMAND [ARGUMENTS]      (or: make COMMAND [ARGS=...])\n")
    for name, (_, text) in COMMANDS.items():
        print(f"  {name:14} {text}")
    return 0


COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "run": (run, "set up what is missing, then the worked example: a program over real files"),
    "test": (test, "set up what is missing, then the tests (arguments go to pytest)"),
    "test-slow": (test_slow, "the tests marked slow: packaging, leaks, long attacks"),
    "lint": (lint, "ruff, mypy --strict and the import rules"),
    "check": (check, "lint, guests-check and test: what every commit must pass"),
    "guests": (guests, "rebuild the WASM guests from source into runtime/nova-wasm/dist"),
    "guests-check": (guests_check, "compare the guests' recorded hashes (takes a second)"),
    "guests-verify": (
        guests_verify,
        "rebuild the guests and compare with the recorded hashes",
    ),
    "bench": (bench, "measure against native, bubblewrap, peers and Docker"),
    "lock": (
        lock,
        "resolve the dependencies into requirements/ (needs uv; --upgrade for the newest)",
    ),
    "help": (show_help, "this list"),
}


def main(arguments: Sequence[str]) -> int:
    name, *rest = arguments or ["help"]
    command = COMMANDS.get({"-h": "help", "--help": "help"}.get(name, name))
    if command is None:
        say(f"There is no command {name!r}; python3 dev.py help lists them.")
        return 2
    try:
        return command[0](rest)
    except SetUpError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Interrupted.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
