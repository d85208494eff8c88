"""A fresh clone as a stranger has it: the README's first command, twice, once without network.

Root tries it as an ordinary user; the folder's name has a space and letters outside ASCII.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.repository import ROOT, files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NOBODY = 65534
SYSTEM_PYTHON = Path("/usr/bin/python3")


def system_python_is_new_enough() -> bool:
    probe = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    return (
        SYSTEM_PYTHON.exists()
        and subprocess.run([SYSTEM_PYTHON, "-c", probe], capture_output=True).returncode == 0
    )


def as_ordinary_user(home: Path) -> tuple[list[str], dict[str, str]]:
    environment = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": f"{SYSTEM_PYTHON.parent}:{os.environ['PATH']}",
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    if os.geteuid() != 0:
        return [], environment
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return user, environment


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of an ordinary user, outside the test's private ones (0700 and root's)."""
    folder = Path("/var/tmp") / f"nova first use {os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def checkout(stranger: Path) -> Path:
    """What git would hand out: the files it knows, as they are now."""
    copy = stranger / "Größe & Maß"
    for path in files():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, copy / path)
    (stranger / "home").mkdir()
    if os.geteuid() == 0:
        for path in (stranger, *stranger.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    return copy


def run(checkout: Path, *command: str, offline: bool = False) -> subprocess.CompletedProcess[str]:
    user, environment = as_ordinary_user(checkout.parent / "home")
    network = ["unshare", "--net", "--map-root-user"] if offline else []
    return subprocess.run(
        [*user, *network, *command],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not system_python_is_new_enough(), reason="needs the system's Python 3.11")
def test_the_first_command_of_the_readme(checkout: Path) -> None:
    first = run(checkout, "make", "run")
    assert first.returncode == 0, first.stdout[-2000:] + first.stderr[-2000:]
    announced = first.stderr.splitlines()[0]
    assert announced.startswith(f"Setting up {checkout}/.venv: ")
    assert " packages, about " in announced
    assert (checkout / "build" / "sales" / "results" / "report.md").exists()
    assert not list(checkout.rglob("*.old"))

    offline = run(checkout, "python3", "dev.py", "run", offline=True)
    assert offline.returncode == 0, offline.stdout[-2000:] + offline.stderr[-2000:]
    assert "Setting up" not in offline.stderr


@pytest.mark.skipif(not system_python_is_new_enough(), reason="needs the system's Python 3.11")
def test_there_really_was_no_network(checkout: Path) -> None:
    """The control of the run before: in the same surroundings a set-up cannot succeed."""
    shutil.rmtree(checkout / ".venv", ignore_errors=True)
    failed = run(checkout, "python3", "dev.py", "run", offline=True)
    assert failed.returncode == 1
    assert "check the network" in failed.stderr.splitlines()[-1]
    assert not (checkout / ".venv").exists()
