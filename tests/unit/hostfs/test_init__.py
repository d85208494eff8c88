"""The door of the room."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nova_desktop import hostfs
from nova_desktop.model import WorkspaceError


def test_a_system_without_race_free_calls_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(WorkspaceError) as caught:
        hostfs.open_directory(str(tmp_path))
    monkeypatch.undo()
    assert caught.value.code == "workspace.unsupported_system"
    assert caught.value.remedy


def test_what_is_exported_exists() -> None:
    assert all(hasattr(hostfs, name) for name in hostfs.__all__)
