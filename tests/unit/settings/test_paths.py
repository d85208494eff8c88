"""Where our own files live."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nova_desktop.model import InvalidRequest, Refused
from nova_desktop.settings import Paths, private_folder


def test_a_given_home_wins_over_nova_home(tmp_path: Path) -> None:
    found = Paths.find(tmp_path, {"NOVA_HOME": "/elsewhere"})
    assert found.data.parent == found.cache.parent == tmp_path


def test_nova_home_points_everything_elsewhere(tmp_path: Path) -> None:
    found = Paths.find(None, {"NOVA_HOME": str(tmp_path)})
    assert found.data.is_relative_to(tmp_path)
    assert found.cache.is_relative_to(tmp_path)


def test_a_relative_nova_home_is_an_error() -> None:
    with pytest.raises(InvalidRequest) as caught:
        Paths.find(None, {"NOVA_HOME": "here"})
    assert caught.value.code == "settings.bad_value"


def test_without_one_the_platform_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("only on POSIX: XDG folders")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = Paths.find(None, {})
    assert found == Paths(tmp_path / "data" / "nova-desktop", tmp_path / "cache" / "nova-desktop")
    assert not found.data.exists()  # naming creates nothing


def test_a_private_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder(folder) == folder


@pytest.mark.security
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(Refused) as caught:
        private_folder(folder)
    assert caught.value.code == "settings.folder_not_private"
    assert folder.stat().st_mode & 0o777 == mode  # refused, not repaired


@pytest.mark.security
def test_a_link_to_somebody_elses_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "theirs")
    with pytest.raises(Refused):
        private_folder(tmp_path / "cache")


@pytest.mark.security
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only on a run as root: giving a folder away")
    (tmp_path / "cache").mkdir(mode=0o700)
    os.chown(tmp_path / "cache", 65534, 65534)
    with pytest.raises(Refused, match="another user"):
        private_folder(tmp_path / "cache")


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    with pytest.raises(Refused):
        private_folder(tmp_path / "cache")
