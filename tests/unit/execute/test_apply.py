"""Writing a plan back: whole files, no surprises, the owner's own changes win."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from nova_desktop.execute.apply import MAX_SINGLE_FLUSHES, Applied, apply_plan
from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.plan import make_plan
from nova_desktop.execute.workspace import HostWorkspace, stage_folder
from nova_desktop.hostfs.posix import Directory
from nova_desktop.model import MIB, Cancellation
from nova_desktop.sandbox.unconfined import LocalFiles
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
from tests.ordinary_user import run_as_ordinary_user

Act = Callable[[], object]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def _run(
    work: Path,
    guest: Callable[[Path], object],
    *,
    meanwhile: Act = lambda: None,
    chosen: Collection[str] | None = None,
) -> Applied:
    """Stage, let the guest change its copy, let others change the original, write back."""
    forbidden = ForbiddenFolders()
    with HostWorkspace.open(work, forbidden) as opened, LocalFiles() as files:
        staging = stage_folder(
            opened,
            files,
            room_bytes=100 * MIB,
            forbidden=forbidden,
            cancellation=Cancellation(),
        )
        guest(files.root)
        plan = make_plan(
            staging.entries,
            files.walk(),
            left_out=staging.left_out,
            only=opened.only,
            most_bytes=100 * MIB,
        )
        meanwhile()
        return apply_plan(plan, opened.directory, chosen)


def _codes(applied: Applied) -> dict[str, str]:
    assert all(note.reason for note in applied.withheld)
    return {note.path: note.code for note in applied.withheld}


def _no_temporary_files(folder: Path) -> bool:
    return not any(path.name.startswith(".nova-") for path in folder.rglob("*"))


def _tree(folder: Path) -> dict[str, bytes | None]:
    assert _no_temporary_files(folder)
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def test_changes_are_written_and_nothing_else_is_touched(work: Path) -> None:
    (work / "keep").write_bytes(b"keep")
    (work / "edit").write_bytes(b"old")
    (work / "edit").chmod(0o640)
    (work / "sub").mkdir()
    (work / "sub" / "gone").write_bytes(b"1")
    kept_before = (work / "keep").stat()

    def guest(copy: Path) -> None:
        (copy / "edit").write_bytes(b"new")
        os.utime(copy / "edit", ns=(1, 987654321))
        (copy / "sub" / "gone").unlink()
        (copy / "sub").rmdir()
        (copy / "new" / "deep").mkdir(parents=True)
        (copy / "new" / "deep" / "file").write_bytes(b"2")

    applied = _run(work, guest)
    assert applied.error is None
    assert _codes(applied) == {}
    assert applied.written == ("edit", "new", "new/deep", "new/deep/file", "sub", "sub/gone")
    assert _tree(work) == {
        "edit": b"new",
        "keep": b"keep",
        "new": None,
        "new/deep": None,
        "new/deep/file": b"2",
    }
    edited = (work / "edit").stat()
    assert (stat.S_IMODE(edited.st_mode), edited.st_mtime_ns) == (0o640, 987654321)
    assert (work / "keep").stat() == kept_before


def test_many_files_are_written_as_well(work: Path) -> None:
    def guest(copy: Path) -> None:
        for number in range(MAX_SINGLE_FLUSHES * 2):
            (copy / f"{number}").write_bytes(b"x")

    assert len(_run(work, guest).written) == MAX_SINGLE_FLUSHES * 2


def test_a_file_becomes_a_folder_and_the_reverse(work: Path) -> None:
    (work / "file").write_bytes(b"1")
    (work / "folder").mkdir()
    (work / "folder" / "a").write_bytes(b"2")

    def guest(copy: Path) -> None:
        (copy / "file").unlink()
        (copy / "file").mkdir()
        (copy / "file" / "inside").write_bytes(b"3")
        (copy / "folder" / "a").unlink()
        (copy / "folder").rmdir()
        (copy / "folder").write_bytes(b"4")

    applied = _run(work, guest)
    assert _codes(applied) == {}
    assert _tree(work) == {"file": None, "file/inside": b"3", "folder": b"4"}


# Conflicts


def _edit(copy: Path) -> None:
    (copy / "a").write_bytes(b"guest's")


@pytest.mark.security
def test_a_file_that_its_owner_changed_meanwhile_is_not_overwritten(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    applied = _run(work, _edit, meanwhile=lambda: (work / "a").write_bytes(b"owner's"))
    assert _codes(applied) == {"a": "apply.conflict"}
    assert _tree(work) == {"a": b"owner's"}
    # control: without the change it is written
    assert _run(work, _edit).written == ("a",)


def _in_the_last_moment(monkeypatch: pytest.MonkeyPatch, method: str, act: Act) -> None:
    """Let ``act`` happen after the last look at a file and before ``method`` acts on it."""
    real = getattr(Directory, method)
    acted: list[object] = []

    def call(directory: Directory, *arguments: str) -> object:
        if not acted:
            acted.append(act())
        return real(directory, *arguments)

    monkeypatch.setattr(Directory, method, call)


@pytest.mark.security
@pytest.mark.parametrize("how", ["written", "replaced", "a link"])
def test_a_change_between_the_last_look_and_the_write_wins(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (work / "a").write_bytes(b"old")
    (tmp_path / "victim").write_bytes(b"victim")

    def act() -> None:
        if how == "written":
            (work / "a").write_bytes(b"owner's")
            return
        (work / "a").unlink()
        if how == "replaced":
            (work / "a").write_bytes(b"owner's")
        else:
            (work / "a").symlink_to(tmp_path / "victim")

    _in_the_last_moment(monkeypatch, "exchange", act)
    assert _codes(_run(work, _edit)) == {"a": "apply.conflict"}
    assert _no_temporary_files(work)
    assert (work / "a").is_symlink() == (how == "a link")
    assert (work / "a").read_bytes() == (b"victim" if how == "a link" else b"owner's")


def test_control_a_plain_rename_loses_a_change_of_the_last_moment(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a").write_bytes(b"old")
    monkeypatch.setattr(Directory, "exchange", lambda directory, temporary, name: False)
    _in_the_last_moment(monkeypatch, "replace_from", lambda: (work / "a").write_bytes(b"owner's"))
    assert _run(work, _edit).written == ("a",)
    assert _tree(work) == {"a": b"guest's"}


@pytest.mark.security
def test_a_change_between_the_last_look_and_the_deletion_wins(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a").write_bytes(b"old")
    _in_the_last_moment(monkeypatch, "set_aside", lambda: (work / "a").write_bytes(b"owner's"))
    applied = _run(work, lambda copy: (copy / "a").unlink())
    assert _codes(applied) == {"a": "apply.conflict"}
    assert _tree(work) == {"a": b"owner's"}


@pytest.mark.security
def test_what_changed_before_and_is_deleted_after_the_exchange_comes_back(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a").write_bytes(b"old")
    real = Directory.exchange
    calls: list[str] = []

    def exchange(directory: Directory, temporary: str, name: str) -> bool:
        calls.append(name)
        if len(calls) == 1:
            (work / "a").write_bytes(b"owner's")
            done = real(directory, temporary, name)
            (work / "a").unlink()
            return done
        return real(directory, temporary, name)

    monkeypatch.setattr(Directory, "exchange", exchange)
    assert _codes(_run(work, _edit)) == {"a": "apply.conflict"}
    assert _tree(work) == {"a": b"owner's"}


@pytest.mark.security
def test_of_two_changes_around_a_deletion_both_are_kept_and_named(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "a").write_bytes(b"old")
    real = Directory.set_aside

    def set_aside(directory: Directory, name: str) -> str:
        (work / "a").write_bytes(b"second")
        aside = real(directory, name)
        (work / "a").write_bytes(b"third")
        return aside

    monkeypatch.setattr(Directory, "set_aside", set_aside)
    applied = _run(work, lambda copy: (copy / "a").unlink())
    (note,) = applied.withheld
    assert note.code == "apply.conflict"
    (kept,) = (path for path in work.iterdir() if path.name != "a")
    assert kept.name in note.reason
    assert (kept.read_bytes(), (work / "a").read_bytes()) == (b"second", b"third")


@pytest.mark.security
def test_a_change_of_equal_size_with_its_time_set_back_is_a_conflict(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    before = (work / "a").stat()

    def meanwhile() -> None:
        (work / "a").write_bytes(b"new")
        os.utime(work / "a", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _codes(_run(work, _edit, meanwhile=meanwhile)) == {"a": "apply.conflict"}


def _saved_anew(file: Path) -> None:
    """As editors do: the old file goes, another one with the same text takes its place."""
    old = file.rename(f"{file}.old")
    file.write_bytes(b"old")
    old.unlink()


@pytest.mark.parametrize(
    "harmless",
    [
        lambda file: os.utime(file, ns=(0, 0)),
        lambda file: file.chmod(0o600),
        lambda file: file.write_bytes(b"old"),
        _saved_anew,
    ],
)
def test_the_same_content_under_other_times_is_no_conflict(
    work: Path, harmless: Callable[[Path], object]
) -> None:
    (work / "a").write_bytes(b"old")
    applied = _run(work, _edit, meanwhile=lambda: harmless(work / "a"))
    assert applied.written == ("a",)
    assert _tree(work) == {"a": b"guest's"}


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.write_bytes(b"o")])
def test_a_file_that_appeared_meanwhile_is_not_overwritten(
    work: Path, make: Callable[[Path], object]
) -> None:
    applied = _run(work, _edit, meanwhile=lambda: make(work / "a"))
    assert _codes(applied) == {"a": "apply.conflict"}
    assert applied.written == ()
    assert (work / "a").is_dir() or (work / "a").read_bytes() == b"o"


def test_a_file_that_was_deleted_meanwhile_is_not_brought_back(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    assert _codes(_run(work, _edit, meanwhile=(work / "a").unlink)) == {"a": "apply.conflict"}
    assert _tree(work) == {}


def test_a_file_to_delete_that_changed_meanwhile_is_kept(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    applied = _run(
        work,
        lambda copy: (copy / "a").unlink(),
        meanwhile=lambda: (work / "a").write_bytes(b"owner's"),
    )
    assert _codes(applied) == {"a": "apply.conflict"}
    assert _tree(work) == {"a": b"owner's"}


def test_a_folder_to_delete_that_holds_something_unseen_is_kept(work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "a").write_bytes(b"1")
    (work / "sub" / "link").symlink_to("/etc/passwd")

    def guest(copy: Path) -> None:
        (copy / "sub" / "a").unlink()
        (copy / "sub").rmdir()

    applied = _run(work, guest)
    assert _codes(applied) == {"sub": "apply.not_empty"}
    assert applied.written == ("sub/a",)
    assert (work / "sub" / "link").is_symlink()


def test_a_folder_that_another_program_made_as_well_is_used(work: Path) -> None:
    def guest(copy: Path) -> None:
        (copy / "sub").mkdir()
        (copy / "sub" / "a").write_bytes(b"1")

    applied = _run(work, guest, meanwhile=(work / "sub").mkdir)
    assert applied.written == ("sub/a",)
    assert _codes(applied) == {}


def test_a_file_that_its_owner_marked_read_only_is_kept(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    (work / "a").chmod(0o444)

    def guest(copy: Path) -> None:
        (copy / "a").unlink()
        _edit(copy)
        (copy / "a").chmod(0o444)

    assert _codes(_run(work, guest)) == {"a": "apply.read_only_file"}


# Attacks


@pytest.mark.security
def test_a_link_put_in_the_place_of_a_file_is_not_written_through(
    work: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").write_bytes(b"old")
    (work / "a").write_bytes(b"old")

    def swap() -> None:
        (work / "a").unlink()
        (work / "a").symlink_to(tmp_path / "victim")

    assert _codes(_run(work, _edit, meanwhile=swap)) == {"a": "apply.conflict"}
    assert (tmp_path / "victim").read_bytes() == b"old"
    (work / "a").write_bytes(b"x")  # control: a plain write goes through
    assert (tmp_path / "victim").read_bytes() == b"x"


@pytest.mark.security
def test_a_folder_put_away_for_a_link_is_not_written_through(work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_bytes(b"old")
    (work / "sub").mkdir()
    (work / "sub" / "a").write_bytes(b"old")
    (work / "sub" / "gone").write_bytes(b"1")

    def guest(copy: Path) -> None:
        (copy / "sub" / "a").write_bytes(b"guest's")
        (copy / "sub" / "new").write_bytes(b"guest's")
        (copy / "sub" / "gone").unlink()

    def swap() -> None:
        (work / "sub").rename(tmp_path / "moved")
        (work / "sub").symlink_to(outside)

    applied = _run(work, guest, meanwhile=swap)
    assert applied.written == ()
    assert set(_codes(applied).values()) == {"apply.conflict"}
    assert _tree(outside) == {"a": b"old"}
    (work / "sub" / "control").write_bytes(b"")  # control: a path leads out
    assert (outside / "control").exists()


@pytest.mark.security
def test_a_folder_swapped_between_writing_and_naming_gets_nothing(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("one", "two"):
        (work / name).mkdir()
        (work / name / "a").write_bytes(b"old")

    def guest(copy: Path) -> None:
        (copy / "one" / "a").write_bytes(b"guest's")
        (copy / "two" / "a").write_bytes(b"guest's")

    real = Directory.exchange
    swapped: list[bool] = []

    def exchange(directory: Directory, temporary: str, name: str) -> bool:
        done = real(directory, temporary, name)
        if not swapped:
            swapped.append(True)
            (work / "two").rename(tmp_path / "moved")
            (work / "two").symlink_to(outside)
        return done

    monkeypatch.setattr(Directory, "exchange", exchange)
    applied = _run(work, guest)
    assert applied.written == ("one/a",)
    assert _codes(applied) == {"two/a": "apply.conflict"}
    assert _tree(outside) == {}


@pytest.mark.security
def test_a_hard_link_to_a_file_outside_is_cut_and_not_written_through(
    work: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").write_bytes(b"old")
    os.link(tmp_path / "victim", work / "a")
    assert _run(work, _edit).written == ("a",)
    assert (tmp_path / "victim").read_bytes() == b"old"
    assert (work / "a").read_bytes() == b"guest's"


@pytest.mark.security
def test_links_that_the_guest_leaves_are_not_taken_back(work: Path) -> None:
    def guest(copy: Path) -> None:
        (copy / "l").symlink_to("/etc/passwd")
        (copy / "u").symlink_to("../../..")

    assert _run(work, guest).written == ()
    assert _tree(work) == {}


@pytest.mark.security
def test_set_id_bits_of_the_owners_file_are_dropped_with_its_new_content(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    (work / "a").chmod(0o6755)
    assert _run(work, _edit).written == ("a",)
    assert stat.S_IMODE((work / "a").stat().st_mode) == 0o755


# What the owner chose


def _mixed(copy: Path) -> None:
    (copy / "a").write_bytes(b"1")
    (copy / "b").mkdir(exist_ok=True)
    (copy / "b" / "c").write_bytes(b"2")
    (copy / ".bashrc").write_bytes(b"3")


@pytest.mark.security
def test_what_runs_outside_is_written_only_when_named(work: Path) -> None:
    applied = _run(work, _mixed)
    assert applied.written == ("a", "b", "b/c")
    assert _codes(applied) == {".bashrc": "apply.runs_outside"}
    named = _run(work, _mixed, chosen={".bashrc"})  # control
    assert named.written == (".bashrc",)


def test_chosen_files_bring_their_new_folders(work: Path) -> None:
    applied = _run(work, _mixed, chosen={"b/c"})
    assert applied.written == ("b", "b/c")
    assert _codes(applied) == {"a": "apply.not_chosen", ".bashrc": "apply.not_chosen"}


def test_a_new_mode_is_set(work: Path) -> None:
    (work / "a").write_bytes(b"1")
    applied = _run(work, lambda copy: (copy / "a").chmod(0o755), chosen={"a"})
    assert applied.written == ("a",)
    assert stat.S_IMODE((work / "a").stat().st_mode) == 0o755


# Permission and room


_IMPORTS = """
from pathlib import Path
from nova_desktop.execute.apply import apply_plan
from nova_desktop.execute.forbidden import ForbiddenFolders
from nova_desktop.execute.plan import make_plan
from nova_desktop.execute.workspace import HostWorkspace, stage_folder
from nova_desktop.hostfs.posix import Directory
from nova_desktop.model import Cancellation
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.memfs import MemoryFileSystem
import ctypes, pwd, sys, tempfile
"""
_ROUND_TRIP = """
forbidden = ForbiddenFolders()
files = MemoryFileSystem(MemoryBudget(1 << 27))
with HostWorkspace.open(Path({path!r}), forbidden) as opened:
    staging = stage_folder(opened, files, room_bytes=1 << 27, forbidden=forbidden,
                           cancellation=Cancellation())
    changed = MemoryFileSystem(MemoryBudget(1 << 27))
    for path, content in {content!r}.items():
        changed.stage_file(path, content)
    class Changed:
        def __init__(self, entry): self.entry = entry
        def __getattr__(self, name): return getattr(self.entry, name)
        content_changed, staged_as = True, None
    plan = make_plan(staging.entries, map(Changed, changed.walk()), most_bytes=1 << 27)
    applied = apply_plan(plan, opened.directory, None)
print(applied.error.code if applied.error else None, applied.written,
      [(note.path, note.code) for note in applied.withheld])
"""


def test_a_folder_without_permission_to_write(work: Path) -> None:
    (work / "a").write_bytes(b"old")
    work.chmod(0o555)
    (work / "a").chmod(0o666)
    code = _ROUND_TRIP.format(path=str(work), content={"a": b"new", "b": b"new"})
    printed = run_as_ordinary_user(work, _IMPORTS, code)
    work.chmod(0o755)
    assert printed == ("None () [('a', 'apply.no_permission'), ('b', 'apply.no_permission')]\n")
    assert _tree(work) == {"a": b"old"}


def _on_a_full_disk(script: str) -> str:
    """Run ``script`` with ``disk`` as a file system of 1 MiB, in namespaces of its own."""
    mount = textwrap.dedent("""
        import ctypes, os, tempfile
        disk = tempfile.mkdtemp()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"none", disk.encode(), b"tmpfs", 0, b"size=1m") != 0:
            raise SystemExit(77)
    """)
    done = subprocess.run(
        [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            sys.executable,
            "-c",
            _IMPORTS + mount + script,
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no user namespaces with mounts: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


_FULL_DISK = """
import os
from pathlib import Path
work = Path(disk)
(work / "old").write_bytes(b"o" * 1000)
content = {"old": b"n" * 1000, "sub/big": b"b" * (2 << 20), "small": b"s"}
"""
_SHOW = """
print(sorted((str(path.relative_to(work)), path.stat().st_size) for path in work.rglob("*")))
print((work / "old").read_bytes()[:1])
"""


_SLOWLY = """
import time
def slowly(real):
    def call(*arguments, **options):
        time.sleep(0.005)  # so that a busy machine still kills in the middle
        return real(*arguments, **options)
    return call
Directory.write_temporary = slowly(Directory.write_temporary)
Directory.exchange = slowly(Directory.exchange)
"""


def test_a_process_killed_while_it_writes_leaves_every_file_old_or_new(work: Path) -> None:
    names = [f"{number:03}" for number in range(150)]
    new = b"n" * 10_000
    code = _ROUND_TRIP.replace("{path!r}", repr(str(work)))
    code = code.replace("{content!r}", f"dict.fromkeys({names!r}, {new!r})")
    moments: list[Callable[[], bool]] = [
        lambda: any(work.glob(".nova-*.tmp")),  # in the middle of writing new contents
        lambda: (work / names[0]).read_bytes() == new,  # in the middle of putting them in place
    ]
    for begun in moments:
        for name in names:
            (work / name).write_bytes(b"old")
        with subprocess.Popen(
            [sys.executable, "-c", _IMPORTS + _SLOWLY + code],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
            stdout=subprocess.DEVNULL,
        ) as process:
            while not begun():
                assert process.poll() is None, "it was over before it could be killed"
            process.kill()
        assert {(work / name).read_bytes() for name in names} <= {b"old", new}
        assert any(work.glob(".nova-*.tmp")), "the kill came too late to show anything"
        for leftover in work.glob(".nova-*.tmp"):
            leftover.unlink()


def test_a_full_disk_writes_nothing_loses_nothing_and_says_so() -> None:
    round_trip = _ROUND_TRIP.replace("{path!r}", "work").replace("{content!r}", "content")
    printed = _on_a_full_disk(_FULL_DISK + round_trip + _SHOW).splitlines()
    assert printed[0].startswith("apply.no_room () [('old', 'apply.no_room'), ('small'")
    assert printed[1] == "[('old', 1000)]"
    assert printed[2] == "b'o'"


def test_a_disk_that_fails_while_flushing_changes_nothing(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "edit").write_bytes(b"old")
    (work / "file").write_bytes(b"becomes a folder")

    def guest(copy: Path) -> None:
        for number in range(MAX_SINGLE_FLUSHES + 1):
            (copy / f"{number}").write_bytes(b"x")
        (copy / "edit").write_bytes(b"new")
        (copy / "sub").mkdir()
        (copy / "file").unlink()
        (copy / "file").mkdir()

    def broken(directory: Directory) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Directory, "flush_file_system", broken)
    before = _tree(work)
    applied = _run(work, guest)
    assert applied.error is not None
    assert (applied.error.code, bool(applied.error.remedy)) == ("apply.failed", True)
    assert applied.written == ()
    assert "file" in _codes(applied)
    assert _tree(work) == before


def test_control_a_plain_write_on_a_full_disk_loses_the_old_content() -> None:
    script = _FULL_DISK + textwrap.dedent("""
        (work / "filler").write_bytes(b"f" * 1000 * 1000)
        try:
            (work / "old").write_bytes(b"n" * (2 << 20))
        except OSError as error:
            print(error.strerror)
        print((work / "old").read_bytes()[:1])
    """)
    assert _on_a_full_disk(script).splitlines()[-1] != "b'o'"


def test_room_for_all_is_checked_before_the_first_file_changes() -> None:
    """Each file alone would fit; together they do not."""
    script = _FULL_DISK.replace("2 << 20", "800 << 10").replace(
        '"small": b"s"', '"z": b"z" * (400 << 10)'
    )
    round_trip = _ROUND_TRIP.replace("{path!r}", "work").replace("{content!r}", "content")
    printed = _on_a_full_disk(script + round_trip + _SHOW).splitlines()
    assert printed[0].startswith("apply.no_room ()")
    assert printed[1] == "[('old', 1000)]"


@pytest.mark.security
@pytest.mark.parametrize(
    ("new_name", "left", "codes"),
    [
        ("notes.exe", "notes.txt", {"notes.exe": "apply.runs_outside", "notes.txt": "apply.moved"}),
        ("moved.txt", "moved.txt", {}),
    ],
)
def test_what_was_moved_to_a_place_that_is_not_written_stays(
    work: Path, new_name: str, left: str, codes: dict[str, str]
) -> None:
    (work / "notes.txt").write_bytes(b"all I have")
    files = MemoryFileSystem(MemoryBudget(100 * MIB))
    forbidden = ForbiddenFolders()
    with HostWorkspace.open(work, forbidden) as opened:
        staging = stage_folder(
            opened,
            files,
            room_bytes=100 * MIB,
            forbidden=forbidden,
            cancellation=Cancellation(),
        )
        old = files.lookup(files.work, b"notes.txt")
        files.rename(old, files.lookup(files.work, new_name.encode()))
        plan = make_plan(staging.entries, files.walk(), most_bytes=MIB)
        applied = apply_plan(plan, opened.directory, None)
    assert _tree(work) == {left: b"all I have"}
    assert _codes(applied) == codes
