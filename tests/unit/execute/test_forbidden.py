"""Folders that are never given, by what they are and not by how they are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nova_desktop.execute.forbidden import ForbiddenFolders


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    (folder / "project").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


@pytest.mark.security
def test_another_name_for_the_same_folder_is_the_same_folder(home: Path) -> None:
    if not os.path.exists("/proc/self/cwd"):
        pytest.skip("only on Linux: /proc")
    forbidden = ForbiddenFolders()
    handle = os.open(home, os.O_RDONLY)
    try:
        alias = Path(f"/proc/self/fd/{handle}")
        assert alias.stat().st_ino == home.stat().st_ino  # control: it leads there
        assert forbidden.reason(alias)
    finally:
        os.close(handle)


@pytest.mark.security
def test_home_is_forbidden_as_a_whole_and_its_keys_with_all_that_is_in_them(home: Path) -> None:
    forbidden = ForbiddenFolders()
    assert forbidden.reason(home)
    assert forbidden.reason(home / ".ssh")
    assert forbidden.reason(home / ".ssh" / "id_rsa")
    assert forbidden.reason(home / "project") == ""


@pytest.mark.security
def test_the_accounts_own_home_counts_when_home_points_elsewhere(home: Path) -> None:
    import pwd

    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    if not real.is_dir():
        pytest.skip("only on an account with a home folder")
    assert ForbiddenFolders().reason(real)


@pytest.mark.security
def test_subfolders_are_known_by_identity(home: Path) -> None:
    forbidden = ForbiddenFolders()
    assert forbidden.forbids_subfolder(_identity(home / ".ssh"))
    assert forbidden.forbids_subfolder(_identity(home))
    assert not forbidden.forbids_subfolder(_identity(home / "project"))


@pytest.mark.security
def test_own_folders_are_forbidden_once_they_exist(tmp_path: Path) -> None:
    own = tmp_path / "data"
    assert ForbiddenFolders([own]).reason(tmp_path) == ""
    own.mkdir()
    assert ForbiddenFolders([own]).reason(own / "inner")


@pytest.mark.security
@pytest.mark.parametrize("path", ["/", "/proc", "/sys", "/dev", "/proc/self"])
def test_the_systems_own_state_is_forbidden(path: str) -> None:
    if not os.path.exists(path):
        pytest.skip("only on Linux: kernel file systems")
    assert ForbiddenFolders().reason(Path(path))
