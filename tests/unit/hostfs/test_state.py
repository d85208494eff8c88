"""What tells one version of a file from another."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from nova_desktop.hostfs import FileKind, FileState

STATE = FileState(
    device=1,
    inode=2,
    mode=stat.S_IFREG | 0o6755,
    links=1,
    owner=0,
    group=0,
    size=5,
    mtime_ns=10,
    ctime_ns=10,
)


def test_the_same_state_is_the_same_version() -> None:
    assert STATE.same_version(STATE)
    assert STATE.same_version(STATE._replace(mode=0, links=2, owner=1, group=1))


@pytest.mark.parametrize(
    "change", [{"inode": 3}, {"device": 2}, {"size": 6}, {"mtime_ns": 11}, {"ctime_ns": 11}]
)
def test_every_trace_of_a_write_makes_another_version(change: dict[str, int]) -> None:
    assert not STATE.same_version(STATE._replace(**change))


def test_a_renamed_file_has_the_same_data() -> None:
    assert STATE.same_data(STATE._replace(ctime_ns=11))
    assert not STATE.same_data(STATE._replace(mtime_ns=11))


def test_permissions_are_the_nine_bits_alone() -> None:
    assert STATE.permissions == 0o755


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (stat.S_IFREG, FileKind.FILE),
        (stat.S_IFDIR, FileKind.DIRECTORY),
        (stat.S_IFLNK, FileKind.LINK),
        (stat.S_IFIFO, FileKind.SPECIAL),
        (stat.S_IFSOCK, FileKind.SPECIAL),
        (stat.S_IFBLK, FileKind.SPECIAL),
        (stat.S_IFCHR, FileKind.SPECIAL),
    ],
)
def test_kinds(kind: int, expected: FileKind) -> None:
    assert STATE._replace(mode=kind | 0o644).kind is expected


def test_it_is_made_from_what_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    status = os.lstat(tmp_path / "a")
    state = FileState.of(status)
    assert (state.identity, state.size) == ((status.st_dev, status.st_ino), 3)
