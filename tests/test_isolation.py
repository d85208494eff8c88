"""The tests have a home of their own, and the real one is as it was before them.

Runs last (``conftest``), so that it judges all the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nova_desktop.settings import Paths
from tests.conftest import ISOLATION
from tests.isolation import inside, real_folders, snapshot


def test_the_real_folders_are_untouched() -> None:
    assert snapshot(ISOLATION.real) == ISOLATION.before


def test_nova_keeps_its_files_in_the_home_of_the_tests() -> None:
    paths = Paths.find(None, os.environ)
    assert ISOLATION.folder in paths.data.parents
    assert ISOLATION.folder in paths.cache.parents


def test_a_started_program_has_the_same_home() -> None:
    ask = "import pathlib, platformdirs as p; print(pathlib.Path.home()); "
    ask += "print(p.user_data_path('nova-desktop')); print(p.user_cache_path('nova-desktop'))"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    places = [Path(line) for line in answer.stdout.splitlines()]
    assert len(places) == 3
    assert all(ISOLATION.folder in place.parents for place in places)


def test_the_folders_that_nova_would_use_are_among_the_watched(tmp_path: Path) -> None:
    """Without it, the first test could watch the wrong places and pass for ever."""
    for environment in ({}, {k: v for k, v in inside(tmp_path).items() if k != "NOVA_HOME"}):
        ask = "import os, nova_desktop.settings as s; p = s.Paths.find(None, os.environ); "
        ask += "print(p.data); print(p.cache)"
        answer = subprocess.run(
            [sys.executable, "-c", ask],
            env={"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        used = {Path(line) for line in answer.stdout.splitlines()}
        assert used <= set(real_folders(environment, tmp_path)), environment


def test_a_touched_folder_is_noticed(tmp_path: Path) -> None:
    folders = real_folders({"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    cache = tmp_path / "cache" / "nova-desktop"
    assert snapshot(folders) == {}
    cache.mkdir(parents=True)
    made = snapshot(folders)
    assert list(made) == [str(cache)]
    (cache / "guest").write_bytes(b"one")
    filled = snapshot(folders)
    (cache / "guest").write_bytes(b"two")
    assert len({str(made), str(filled), str(snapshot(folders))}) == 3
