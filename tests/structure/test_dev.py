"""``dev.py`` starts everywhere, builds its environment once, and never half."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import dev
from tests.structure.repository import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


class OfflineEnvironment(dev.Environment):
    """An environment of nothing but Python itself: no package, no network."""

    venv_options = ("--without-pip",)
    installed = 0

    def _install(self, lock: Path) -> None:
        self.installed += 1


class KilledEnvironment(OfflineEnvironment):
    def _install(self, lock: Path) -> None:
        os._exit(9)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A path as people have it: with a space and letters outside ASCII."""
    root = tmp_path / "Größe und Maß"
    (root / "requirements").mkdir(parents=True)
    (root / "nova_desktop").mkdir()
    (root / "nova_desktop" / "__init__.py").write_text("place = __file__\n")
    for name in ("run", "dev"):
        (root / "requirements" / f"{name}.txt").write_text(f"# nothing of {name}\n")
    return root


def test_it_parses_on_the_oldest_python_somebody_may_start_it_with() -> None:
    source = (ROOT / "dev.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    before_check = source.partition("sys.exit(_hand_over())")[0]
    assert "from __future__" not in source
    assert "list[" not in before_check
    assert " | " not in before_check


def test_an_old_python_is_told_in_one_line_what_is_needed() -> None:
    """The version is a lie told to the file; the check and the sentence are real."""
    program = (
        "import sys, runpy; sys.version_info = (3, 8, 0, 'final', 0); "
        "sys.argv = ['dev.py', 'test']; runpy.run_path('dev.py', run_name='__main__')"
    )
    old = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert old.returncode == 2
    assert len(old.stderr.splitlines()) == 1
    assert "needs Python 3.11 or newer, and this is 3.8" in old.stderr


def test_the_project_is_importable_and_the_second_time_changes_nothing(checkout: Path) -> None:
    environment = OfflineEnvironment(checkout)
    python = environment.ensure("run")
    place = subprocess.check_output(
        [str(python), "-I", "-c", "import nova_desktop; print(ascii(nova_desktop.place))"],
        text=True,
    )
    assert ast.literal_eval(place) == str(checkout / "nova_desktop" / "__init__.py")
    before = python.parent.stat().st_ctime_ns
    assert OfflineEnvironment(checkout).ensure("run") == python
    assert python.parent.stat().st_ctime_ns == before
    assert environment.installed == 1


def test_a_moved_checkout_still_works(checkout: Path) -> None:
    OfflineEnvironment(checkout).ensure("run")
    moved = checkout.rename(checkout.with_name("elsewhere"))
    environment = OfflineEnvironment(moved)
    python = environment.ensure("run")
    assert environment.installed == 0
    subprocess.check_call([str(python), "-I", "-c", "import nova_desktop"])


def test_the_developers_environment_serves_the_run_command_too(checkout: Path) -> None:
    OfflineEnvironment(checkout).ensure("dev")
    environment = OfflineEnvironment(checkout)
    environment.ensure("run")
    assert environment.installed == 0


@pytest.mark.parametrize("change", ["lock", "python"])
def test_another_lock_or_python_makes_it_anew(checkout: Path, change: str) -> None:
    OfflineEnvironment(checkout).ensure("run")
    if change == "lock":
        (checkout / "requirements" / "run.txt").write_text("# something else\n")
    else:
        stamp = checkout / ".venv" / "nova-setup.json"
        stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "cpython-310"}))
    environment = OfflineEnvironment(checkout)
    environment.ensure("run")
    assert environment.installed == 1
    assert sorted(p.name for p in checkout.glob(".venv*")) == [".venv", ".venv.lock"]


def test_a_failed_set_up_leaves_the_old_environment(checkout: Path) -> None:
    OfflineEnvironment(checkout).ensure("run")
    (checkout / ".venv" / "kept").touch()
    lock = checkout / "requirements" / "run.txt"
    before = lock.read_text()
    lock.write_text("# newer\n")

    class NoNetwork(OfflineEnvironment):
        def _install(self, lock: Path) -> None:
            raise dev.SetUpError("no network")

    with pytest.raises(dev.SetUpError):
        NoNetwork(checkout).ensure("run")
    lock.write_text(before)
    environment = OfflineEnvironment(checkout)
    environment.ensure("run")
    assert environment.installed == 0
    assert (checkout / ".venv" / "kept").exists()


@pytest.mark.parametrize("had_one_before", [False, True])
def test_a_killed_set_up_is_redone(checkout: Path, had_one_before: bool) -> None:
    if had_one_before:
        OfflineEnvironment(checkout).ensure("run")
        (checkout / "requirements" / "run.txt").write_text("# newer\n")

    program = "import pathlib, sys; from tests.structure.test_dev import KilledEnvironment as K; "
    program += "K(pathlib.Path(sys.argv[1])).ensure('run')"
    killed = subprocess.run([sys.executable, "-c", program, str(checkout)], cwd=ROOT, check=False)
    assert killed.returncode == 9
    environment = OfflineEnvironment(checkout)
    python = environment.ensure("run")
    assert environment.installed == 1
    subprocess.check_call([str(python), "-I", "-c", "import nova_desktop"])
    assert not (checkout / ".venv.old").exists()


def test_an_environment_that_we_did_not_make_is_kept(checkout: Path) -> None:
    for content in ("first", "second"):
        foreign = checkout / ".venv"
        foreign.mkdir()
        (foreign / content).touch()
        OfflineEnvironment(checkout).ensure("run")
        foreign.rename(checkout / f"done-{content}")
    assert (checkout / ".venv.yours" / "first").exists()
    assert (checkout / ".venv.yours-2" / "second").exists()


def test_two_set_ups_at_once_are_one_after_the_other(checkout: Path) -> None:
    class Slow(OfflineEnvironment):
        def _install(self, lock: Path) -> None:
            super()._install(lock)
            time.sleep(0.5)

    both = [Slow(checkout), Slow(checkout)]
    threads = [threading.Thread(target=each.ensure, args=("run",)) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each.installed for each in both) == 1


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_pin_everything_by_hash_and_name_no_host(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text
    packages = re.split(r"\n(?=[a-z])", text)[1:]
    assert len(packages) > 10
    for package in packages:
        assert re.match(r"[\w.-]+==[\w.]+ ", package), package
        assert "--hash=sha256:" in package


def test_the_locks_agree_with_each_other() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        return set(re.findall(r"^([\w.-]+==[\w.]+)", text, flags=re.MULTILINE))

    assert pins("run") < pins("dev")
