"""Staging the owner's folder: what is taken, what is left out, what is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nova_desktop.execute import workspace as module
from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.workspace import (
    HostWorkspace,
    Staging,
    StagingStopped,
    stage_folder,
    stage_values,
)
from nova_desktop.hostfs.posix import Directory
from nova_desktop.model import MIB, Cancellation, NovaError, Refused, WorkspaceError
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from tests.ordinary_user import run_as_ordinary_user

ROOM = 100 * MIB


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def _stage(
    path: Path,
    *,
    room_bytes: int = ROOM,
    own_folders: tuple[Path, ...] = (),
    cancellation: Cancellation | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Staging, dict[str, bytes | None]]:
    files = MemoryFileSystem(MemoryBudget(room_bytes))
    forbidden = ForbiddenFolders(own_folders)
    with HostWorkspace.open(path, forbidden) as opened:
        staging = stage_folder(
            opened,
            files,
            room_bytes=room_bytes,
            forbidden=forbidden,
            cancellation=cancellation or Cancellation(),
            progress=progress,
        )
    found = {
        entry.path: None if entry.is_directory else b"".join(entry.chunks())
        for entry in files.walk()
    }
    return staging, found


def _left_out(staging: Staging) -> dict[str, str]:
    return {note.path: note.code for note in staging.left_out}


def _error(path: Path, **options: int) -> NovaError:
    with pytest.raises(NovaError) as caught:
        _stage(path, **options)  # type: ignore[arg-type]
    assert caught.value.message
    assert caught.value.remedy
    return caught.value


def test_a_folder_is_copied_with_modes_and_times(work: Path) -> None:
    (work / "sub" / "empty").mkdir(parents=True)
    (work / "sub" / "a.txt").write_bytes(b"hello")
    (work / "sub" / "a.txt").chmod(0o640)
    os.utime(work / "sub" / "a.txt", ns=(1, 123456789))
    staging, found = _stage(work)
    assert found == {"sub": None, "sub/a.txt": b"hello", "sub/empty": None}
    entry = staging.entries["sub/a.txt"]
    assert (entry.size, entry.permissions, entry.is_directory) == (5, 0o640, False)
    assert entry.state is not None
    assert entry.state.mtime_ns == 123456789
    assert staging.left_out == []


def test_an_empty_folder_is_a_workspace(work: Path) -> None:
    assert _stage(work)[1] == {}


def test_a_single_file_is_staged_without_its_neighbours(work: Path) -> None:
    (work / "a.csv").write_bytes(b"1")
    (work / "b.csv").write_bytes(b"2")
    assert _stage(work / "a.csv")[1] == {"a.csv": b"1"}


def test_the_owners_own_link_to_a_folder_is_followed(work: Path, tmp_path: Path) -> None:
    (work / "a").write_bytes(b"1")
    (tmp_path / "link").symlink_to(work)
    assert _stage(tmp_path / "link")[1] == {"a": b"1"}


@pytest.mark.security
def test_links_inside_are_left_out_wherever_they_lead(work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (work / "out").symlink_to(tmp_path / "secret")
    (work / "absolute").symlink_to("/etc")
    (work / "up").symlink_to("..")
    (work / "dangling").symlink_to("nothing")
    (work / "a").write_bytes(b"1")
    (work / "inside").symlink_to("a")
    assert (work / "out").read_bytes() == b"secret"  # control
    staging, found = _stage(work)
    assert found == {"a": b"1"}
    assert set(_left_out(staging).values()) == {"left_out.link"}
    assert len(staging.left_out) == 5


@pytest.mark.security
def test_pipes_sockets_and_devices_are_left_out(work: Path) -> None:
    os.mkfifo(work / "pipe")
    if os.geteuid() == 0:
        os.mknod(work / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    staging, found = _stage(work)
    assert found == {}
    assert set(_left_out(staging).values()) == {"left_out.special_file"}


def test_a_name_that_is_not_unicode_is_left_out(work: Path) -> None:
    with open(os.fsencode(work) + b"/a\xff", "wb"):
        pass
    staging, _ = _stage(work)
    assert _left_out(staging) == {"a\\xff": "left_out.bad_name"}


def test_what_an_interrupted_run_left_is_left_out(work: Path) -> None:
    (work / ".nova-0123456789abcdef.tmp").write_bytes(b"half")
    staging, found = _stage(work)
    assert found == {}
    assert list(_left_out(staging).values()) == ["left_out.temporary"]


def test_decomposed_names_are_kept_as_they_are(work: Path) -> None:
    (work / "e\u0301.txt").write_bytes(b"1")
    assert _stage(work)[1] == {"e\u0301.txt": b"1"}


def test_what_lies_too_deep_is_left_out(work: Path) -> None:
    deep = work.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)
    (deep / "a").write_bytes(b"")
    staging, found = _stage(work)
    assert len(found) == module.MAX_DEPTH
    assert list(_left_out(staging).values()) == ["left_out.too_deep"]


def test_what_cannot_be_read_is_left_out_and_the_rest_is_staged(work: Path) -> None:
    (work / "secret.txt").write_bytes(b"1")
    (work / "secret.txt").chmod(0)
    (work / "closed").mkdir(mode=0)
    (work / "open.txt").write_bytes(b"2")
    printed = run_as_ordinary_user(work, _IMPORTS, _CODE.format(path=str(work)))
    assert printed == ("open.txt\nclosed left_out.unreadable\nsecret.txt left_out.unreadable\n")


def test_a_workspace_that_cannot_be_read_is_an_error(work: Path) -> None:
    work.chmod(0)
    printed = run_as_ordinary_user(work.parent, _IMPORTS, _CODE.format(path=str(work)))
    work.chmod(0o700)
    assert printed == "workspace.unreadable True\n"


_IMPORTS = """
from pathlib import Path
from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.workspace import HostWorkspace, stage_folder
from nova_desktop.hostfs.posix import Directory
from nova_desktop.model import Cancellation, NovaError
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
import pwd
"""
_CODE = """
files = MemoryFileSystem(MemoryBudget(1 << 27))
forbidden = ForbiddenFolders()
try:
    with HostWorkspace.open(Path({path!r}), forbidden) as opened:
        staging = stage_folder(opened, files, room_bytes=1 << 27, forbidden=forbidden,
                               cancellation=Cancellation())
except NovaError as error:
    print(error.code, bool(error.remedy))
else:
    for entry in files.walk():
        print(entry.path)
    for note in sorted(staging.left_out, key=str):
        print(note.path, note.code)
"""


@pytest.mark.parametrize("name", ["not there", "file/below", "a\0b"])
def test_a_missing_workspace(work: Path, name: str) -> None:
    (work / "file").write_bytes(b"")
    assert _error(work / name).code in {"workspace.not_found", "workspace.unusable"}


def test_a_disk_that_fails_is_an_error(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(directory: Directory) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Directory, "scan", broken)
    error = _error(work)
    assert error.code == "workspace.unusable"
    assert "Input/output error" in error.message


def test_a_single_file_whose_name_is_no_unicode_is_an_error(work: Path) -> None:
    (work / "bad\udcff.txt").write_bytes(b"x")
    error = _error(work / "bad\udcff.txt")
    assert error.code == "workspace.unusable"
    assert "bad\\xff.txt" in error.message


@pytest.mark.security
def test_the_place_of_our_own_folders_is_taken_before_they_exist(work: Path) -> None:
    staging, _ = _stage(work, own_folders=(work / "in" / "data", work.parent / "elsewhere"))
    assert _left_out(staging) == {"in/data": "left_out.forbidden"}


def test_a_circle_of_links_is_an_error(work: Path) -> None:
    (work / "a").symlink_to("b")
    (work / "b").symlink_to("a")
    assert _error(work / "a").code == "workspace.unusable"


def test_a_pipe_as_workspace_is_an_error(work: Path) -> None:
    os.mkfifo(work / "pipe")
    assert _error(work / "pipe").code == "workspace.not_a_folder"


def test_a_workspace_over_the_memory_limit_is_refused_before_anything_is_read(
    work: Path,
) -> None:
    (work / "big").mkdir()
    with (work / "big" / "sparse").open("wb") as file:
        file.truncate(1 << 40)  # reading it would take minutes
    (work / "small").write_bytes(b"1")
    error = _error(work)
    assert error.code == "workspace.too_large"
    assert "1,048,576.0 MB" in error.message
    assert "big (" in error.message
    assert "--memory" in error.remedy


def test_following_the_remedy_for_a_large_workspace_works(work: Path) -> None:
    (work / "data").write_bytes(bytes(20 * MIB))
    error = _error(work, room_bytes=40 * MIB)
    enough = int(error.remedy.rpartition(" ")[2].removesuffix("M."))
    assert _stage(work, room_bytes=enough * MIB)[1].keys() == {"data"}


def test_many_empty_files_count_as_well(work: Path) -> None:
    for number in range(200):
        (work / str(number)).write_bytes(b"")
    assert _error(work, room_bytes=module.GUEST_BYTES + 100_000).code == "workspace.too_large"


@pytest.mark.security
def test_the_home_folder_and_the_root_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "link").symlink_to(home)
    for path in (
        Path("/"),
        home,
        tmp_path / "link",
        home / "project" / "..",
        Path("/proc/self/root"),
    ):
        with pytest.raises(Refused) as caught:
            _stage(path)
        assert caught.value.code == "workspace.forbidden"
    assert _stage(home / "project")[1] == {}  # control: a folder in it is fine


@pytest.mark.security
@pytest.mark.parametrize("name", [".ssh", ".gnupg", ".mozilla", ".config/chromium"])
def test_private_folders_are_refused_with_all_that_is_in_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    home = tmp_path / "home"
    (home / name / "sub").mkdir(parents=True)
    (home / name / "sub" / "key").write_bytes(b"secret")
    monkeypatch.setenv("HOME", str(home))
    for path in (home / name, home / name / "sub", home / name / "sub" / "key"):
        with pytest.raises(Refused):
            _stage(path)


@pytest.mark.security
def test_private_folders_inside_a_workspace_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".config" / "chromium").mkdir(parents=True)
    (home / ".config" / "chromium" / "Cookies").write_bytes(b"secret")
    (home / ".config" / "app").mkdir()
    monkeypatch.setenv("HOME", str(home))
    staging, found = _stage(home / ".config")
    assert found == {"app": None}
    assert _left_out(staging) == {"chromium": "left_out.forbidden"}
    # control: without the rule it is an ordinary folder
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert b"secret" in _stage(home / ".config")[1].values()


@pytest.mark.security
def test_a_folder_exchanged_for_a_private_one_while_it_is_opened_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "key").write_bytes(b"secret")
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    work.mkdir()

    class Exchanging(ForbiddenFolders):
        def reason(self, resolved: Path) -> str:
            reason = super().reason(resolved)
            work.rename(tmp_path / "moved")
            (home / ".ssh").rename(work)
            return reason

    with pytest.raises(Refused) as caught:
        HostWorkspace.open(work, Exchanging())
    assert caught.value.code == "workspace.forbidden"
    assert (work / "key").read_bytes() == b"secret"  # control: the path leads there


@pytest.mark.security
def test_novas_own_data_is_refused(work: Path) -> None:
    (work / "inner").mkdir()
    for path in (work, work / "inner"):
        with pytest.raises(Refused):
            _stage(path, own_folders=(work,))
    _, found = _stage(work, own_folders=(work / "inner",))
    assert found == {}


def test_a_single_file_in_the_home_folder_may_be_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "letter.txt").write_bytes(b"1")
    assert _stage(tmp_path / "letter.txt")[1] == {"letter.txt": b"1"}


# Changing while staged. ``_between`` acts after everything was counted and before it is read.


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    def arrange(act: Callable[[], object]) -> None:
        real = Directory.descend
        acted: list[object] = []

        def descend(directory: Directory, names: tuple[str, ...]) -> Directory:
            if not acted:
                acted.append(act())
            return real(directory, names)

        monkeypatch.setattr(Directory, "descend", descend)

    return arrange


Between = Callable[[Callable[[], object]], None]


@pytest.mark.security
def test_a_file_swapped_for_a_link_while_staged_is_left_out(
    work: Path, tmp_path: Path, between: Between
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (work / "a").write_bytes(b"harmless")

    def swap() -> None:
        (work / "a").unlink()
        (work / "a").symlink_to(tmp_path / "secret")

    between(swap)
    staging, found = _stage(work)
    assert found == {}
    assert _left_out(staging) == {"a": "left_out.changing"}
    assert (work / "a").read_bytes() == b"secret"  # control


@pytest.mark.security
@pytest.mark.parametrize("link", [True, False])
def test_a_folder_swapped_while_staged_is_left_out(
    work: Path, tmp_path: Path, between: Between, link: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_bytes(b"secret")
    (work / "sub").mkdir()
    (work / "sub" / "a").write_bytes(b"harmless")

    def swap() -> None:
        (work / "sub").rename(tmp_path / "moved")
        if link:
            (work / "sub").symlink_to(outside)
        else:
            outside.rename(work / "sub")

    between(swap)
    staging, found = _stage(work)
    assert b"secret" not in found.values()
    assert _left_out(staging) == {"sub/a": "left_out.changing"}
    assert (work / "sub" / "a").read_bytes() == b"secret"  # control


def test_a_file_that_vanishes_while_staged_is_left_out(work: Path, between: Between) -> None:
    (work / "a").write_bytes(b"1")
    (work / "b").write_bytes(b"2")
    between((work / "a").unlink)
    staging, found = _stage(work)
    assert found == {"b": b"2"}
    assert _left_out(staging) == {"a": "left_out.changing"}


def test_a_file_that_grows_past_the_limit_while_staged_is_an_error(
    work: Path, between: Between
) -> None:
    (work / "a").write_bytes(b"1")
    between(lambda: os.truncate(work / "a", ROOM + 1))
    error = _error(work)
    assert error.code == "workspace.too_large"
    assert "grew" in error.message


def test_a_single_file_that_turns_into_a_link_is_an_error(work: Path, between: Between) -> None:
    (work / "a").write_bytes(b"1")

    def swap() -> None:
        (work / "a").unlink()
        (work / "a").symlink_to("/etc/passwd")

    between(swap)
    assert _error(work / "a").code == "workspace.unreadable"


def test_staging_can_be_stopped(work: Path) -> None:
    (work / "a").write_bytes(b"1")
    cancellation = Cancellation()
    cancellation.request()
    with pytest.raises(StagingStopped):
        _stage(work, cancellation=cancellation)


def test_progress_is_told(work: Path) -> None:
    (work / "a").write_bytes(b"1")
    told: list[str] = []
    _stage(work, progress=lambda what, done, total: told.append(what))
    assert told


def test_files_given_as_values_are_staged_with_their_folders() -> None:
    files = MemoryFileSystem(MemoryBudget(MIB))
    staging = stage_values({"a/b/c.txt": b"1", "a/d.txt": b"2"}, files)
    assert [entry.path for entry in files.walk()] == ["a", "a/b", "a/b/c.txt", "a/d.txt"]
    assert staging.entries.keys() == {"a", "a/b", "a/b/c.txt", "a/d.txt"}


def test_values_over_the_memory_limit_are_an_error() -> None:
    with pytest.raises(WorkspaceError) as caught:
        stage_values({"a": bytes(2 * MIB)}, MemoryFileSystem(MemoryBudget(MIB)))
    assert caught.value.code == "workspace.too_large"
