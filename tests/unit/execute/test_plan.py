"""The change plan: a comparison of what was given with what was left."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from nova_desktop.execute.plan import ChangePlan, make_plan
from nova_desktop.execute.workspace import Staged
from nova_desktop.hostfs import NameRules
from nova_desktop.model import MIB, ChangeKind, PathNote
from nova_desktop.sandbox.wasm.budget import MemoryBudget


@dataclass(frozen=True)
class Entry:
    path: str
    content: bytes = b""
    is_directory: bool = False
    mode: int = 0o644
    mtime_ns: int = 0
    staged_as: str | None = None
    content_changed: bool = True
    hole_bytes: int = 0

    @property
    def size(self) -> int:
        return len(self.content) + self.hole_bytes

    def chunks(self) -> Iterator[bytes]:
        assert self.hole_bytes == 0, "a terabyte of zeros is not read"
        yield self.content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _file(content: bytes = b"", mode: int = 0o644) -> Staged:
    return Staged(False, _digest(content), len(content), mode, None)


FOLDER = Staged(True, "", 0, 0o755, None)


def _plan(
    staged: dict[str, Staged],
    entries: Iterable[Entry],
    *,
    left_out: Iterable[str] = (),
    only: str | None = None,
    rules: NameRules = NameRules.POSIX,
) -> ChangePlan:
    notes = [PathNote(path, "it is a link", "left_out.link") for path in left_out]
    return make_plan(staged, entries, left_out=notes, only=only, rules=rules, most_bytes=100 * MIB)


def _kinds(plan: ChangePlan) -> list[tuple[str, str]]:
    return [(change.path, str(change.kind)) for change in plan.changes]


def _withheld(plan: ChangePlan) -> dict[str, str]:
    return {note.path: note.code for note in plan.withheld}


def test_nothing_touched_is_no_change() -> None:
    staged = {"a": _file(b"x"), "d": FOLDER}
    plan = _plan(
        staged,
        [
            Entry("a", b"x", staged_as="a", content_changed=False),
            Entry("d", is_directory=True, staged_as="d"),
        ],
    )
    assert plan == ChangePlan()


def test_the_same_bytes_written_again_are_no_change() -> None:
    assert _plan({"a": _file(b"x")}, [Entry("a", b"x", staged_as="a")]).changes == ()


def test_a_file_replaced_by_a_new_one_with_the_same_bytes_is_no_change() -> None:
    assert _plan({"a": _file(b"x")}, [Entry("a", b"x", staged_as=None)]).changes == ()


def test_created_modified_and_deleted() -> None:
    staged = {"old": _file(b"12"), "gone": _file(b"123"), "sub": FOLDER}
    plan = _plan(staged, [Entry("old", b"new!", staged_as="old"), Entry("report.csv", b"1,2")])
    assert _kinds(plan) == [
        ("gone", "deleted"),
        ("old", "modified"),
        ("report.csv", "created"),
        ("sub", "deleted"),
    ]
    old = plan.changes[1]
    assert (old.size_before, old.size, old.sha256) == (2, 4, _digest(b"new!"))
    assert old.mode is None
    assert plan.changes[2].media_type == "text/csv"
    assert plan.changes[0].size_before == 3
    assert plan.changes[3].is_directory


def test_a_rename_is_a_deletion_and_a_creation_without_reading_it() -> None:
    class Unreadable(Entry):
        def chunks(self) -> Iterator[bytes]:
            raise AssertionError("the digest is known from staging")

    moved = Unreadable("b", b"x", staged_as="a", content_changed=False)
    plan = _plan({"a": _file(b"x")}, [moved])
    assert _kinds(plan) == [("a", "deleted"), ("b", "created")]
    assert plan.changes[1].sha256 == _digest(b"x")


def test_two_files_that_changed_places_are_two_modifications() -> None:
    staged = {"a": _file(b"1"), "b": _file(b"2")}
    plan = _plan(
        staged,
        [
            Entry("a", b"2", staged_as="b", content_changed=False),
            Entry("b", b"1", staged_as="a", content_changed=False),
        ],
    )
    assert _kinds(plan) == [("a", "modified"), ("b", "modified")]


def test_a_file_that_became_a_folder_is_deleted_first() -> None:
    plan = _plan({"a": _file(b"1")}, [Entry("a", is_directory=True), Entry("a/b", b"2")])
    assert _kinds(plan) == [("a", "deleted"), ("a", "created"), ("a/b", "created")]


@pytest.mark.security
def test_a_new_execute_bit_is_a_change_that_must_be_named() -> None:
    plan = _plan({"a": _file(b"x")}, [Entry("a", b"x", mode=0o755, staged_as="a")])
    (change,) = plan.changes
    assert (change.kind, change.mode, change.runs_outside) == (ChangeKind.MODIFIED, 0o755, True)
    assert plan.planned[0].only_mode_changes
    assert [note.path for note in plan.needs_naming] == ["a"]


def test_set_id_bits_are_not_planned() -> None:
    plan = _plan({"a": _file(b"x", 0o755)}, [Entry("a", b"y", mode=0o6755, staged_as="a")])
    assert plan.changes[0].mode is None


@pytest.mark.security
def test_what_runs_outside_is_marked_and_must_be_named() -> None:
    staged = {".git": FOLDER, ".git/config": _file()}
    plan = _plan(staged, [Entry(".git", is_directory=True), Entry(".git/config", b"[core]")])
    assert plan.changes[0].runs_outside
    assert plan.needs_naming[0].code == "apply.runs_outside"
    deleted = _plan(staged, [Entry(".git", is_directory=True)])
    assert deleted.changes[0].runs_outside


def test_what_was_left_out_is_not_deleted_and_not_overwritten() -> None:
    plan = _plan({}, [Entry("link", b"new"), Entry("LINK2", b"new")], left_out=["link", "link2"])
    assert _withheld(plan) == {"link": "apply.exists", "LINK2": "name.collision"}
    assert all(change.kind is ChangeKind.CREATED for change in plan.changes)


@pytest.mark.security
@pytest.mark.parametrize(
    ("existing", "new"),
    [("README.md", "readme.md"), ("é.txt", "e\u0301.txt"), ("Sub/a", "sub/a")],
)
def test_a_new_name_that_some_systems_take_for_an_existing_one(existing: str, new: str) -> None:
    plan = _plan(
        {existing: _file()},
        [Entry(existing, b"", staged_as=existing, content_changed=False), Entry(new, b"x")],
    )
    assert _withheld(plan)[new] == "name.collision"


def test_of_two_new_colliding_names_the_first_is_written() -> None:
    plan = _plan({}, [Entry("A", b"1"), Entry("a", b"2")])
    assert _withheld(plan) == {"a": "name.collision"}


def test_two_names_that_collide_on_the_host_already_are_left_alone() -> None:
    staged = {"A": _file(b"1"), "a": _file(b"2")}
    plan = _plan(staged, [Entry("A", b"x", staged_as="A"), Entry("a", b"y", staged_as="a")])
    assert plan.withheld == ()
    assert len(plan.changes) == 2


@pytest.mark.security
def test_names_that_windows_cannot_hold_are_withheld_there_one_by_one() -> None:
    names = ["a:b.txt", "con", "x.", "näme\nzwei.txt", "y" * 300]
    plan = _plan({}, [Entry(name, b"") for name in [*names, "good"]], rules=NameRules.WINDOWS)
    assert set(_withheld(plan)) == set(names)
    here = _plan({}, [Entry(name, b"") for name in [*names, "good"]])
    assert _withheld(here) == {"y" * 300: "name.too_long"}


def test_what_is_in_a_withheld_folder_is_withheld_for_its_sake() -> None:
    entries = [Entry("con", is_directory=True), Entry("con/a", b"1")]
    plan = _plan({}, entries, rules=NameRules.WINDOWS)
    assert _withheld(plan) == {"con": "name.reserved", "con/a": "name.reserved"}


def test_a_name_that_is_not_unicode_is_withheld_and_shown_as_escapes() -> None:
    plan = _plan({}, [Entry("a\udcff", b"1"), Entry("a\udcfe", b"2")])
    assert _withheld(plan) == {"a\\xff": "name.not_unicode", "a\\xfe": "name.not_unicode"}
    assert plan.changes == ()


def test_only_the_file_that_was_given_is_written() -> None:
    plan = _plan(
        {"a.csv": _file(b"1")},
        [Entry("a.csv", b"2", staged_as="a.csv"), Entry("b.csv", b"3")],
        only="a.csv",
    )
    assert _withheld(plan) == {"b.csv": "apply.not_given"}


@pytest.mark.security
def test_a_terabyte_of_holes_is_not_read() -> None:
    huge = Entry("huge", hole_bytes=1 << 40)
    many = [Entry(f"part{n:03}", b"x" * MIB) for n in range(3)]
    plan = _plan({}, [huge, *many])
    assert _withheld(plan) == {"huge": "apply.too_large"}
    assert len(plan.changes) == 3


def test_content_can_be_read_from_the_plan() -> None:
    plan = _plan({"gone": _file()}, [Entry("a", b"new")])
    assert plan.read("a") == b"new"
    for path in ("gone", "other"):
        with pytest.raises(KeyError):
            plan.read(path)


@pytest.mark.security
def test_a_plan_is_charged_to_the_runs_budget() -> None:
    """Each file may have a path of kilobytes, which the guest itself was not charged for."""
    folder = "/".join(["d" * 250] * 15)
    entries = [Entry(f"{folder}/{n}") for n in range(1000)]
    plan = make_plan({}, entries, most_bytes=MIB, budget=MemoryBudget(10 * MIB))
    assert len(plan.changes) == 1000
    plan = make_plan({"a": _file()}, entries, most_bytes=MIB, budget=MemoryBudget(5 * MIB))
    assert plan.changes == ()
    assert plan.error is not None
    assert plan.error.code == "apply.too_many"


@pytest.mark.security
def test_a_path_that_grew_too_long_by_renames_is_withheld() -> None:
    folders = ["/".join(["d" * 250] * depth) for depth in range(1, 20)]
    plan = _plan({}, [Entry(folder, is_directory=True) for folder in folders])
    assert set(_withheld(plan)) == set(folders[16:])
    assert set(_withheld(plan).values()) == {"name.too_long"}


@pytest.mark.security
def test_files_that_share_a_long_folder_are_compared_in_little_time() -> None:
    folder = "/".join(["\u00e9" * 30] * 60)
    entries = [Entry(f"{folder}/{n}") for n in range(3000)]
    started = time.process_time()
    assert len(_plan({}, entries).changes) == 3000
    assert time.process_time() - started < 2.0  # 7 s when each folder is folded for each file


def test_a_file_that_cannot_be_read_is_that_files_problem_alone() -> None:
    class Unreadable(Entry):
        def chunks(self) -> Iterator[bytes]:
            raise PermissionError(13, "Permission denied")

    staged = {"a": _file(b"1")}
    plan = _plan(staged, [Unreadable("a", b"2", staged_as="a"), Entry("b", b"3")])
    assert _withheld(plan) == {"a": "apply.unreadable"}
    assert _kinds(plan) == [("b", "created")]


def test_of_a_folder_that_cannot_be_listed_nothing_counts_as_deleted() -> None:
    def entries() -> Iterator[Entry]:
        yield Entry("d", is_directory=True, staged_as="d")
        raise PermissionError(13, "Permission denied")

    plan = _plan({"d": FOLDER, "d/a": _file(b"1")}, entries())
    assert plan.changes == ()
    assert plan.error is not None
    assert plan.error.code == "apply.not_comparable"


@pytest.mark.security
@pytest.mark.parametrize("place", [("/", "repo", ".git"), ("/", "repo", ".GIT", "hooks")])
def test_everything_in_a_folder_that_others_obey_is_marked(place: tuple[str, ...]) -> None:
    staged = {"config": _file(b"1"), "x": _file(b"2")}
    entries = [Entry("config", b"2", staged_as="config"), Entry("new", is_directory=True)]
    plan = make_plan(staged, entries, most_bytes=MIB, place=place)
    assert [note.path for note in plan.needs_naming] == ["config", "new", "x"]
    assert all(change.runs_outside for change in plan.changes)
    elsewhere = make_plan(staged, entries, most_bytes=MIB, place=("/", "startup", "repo"))
    assert elsewhere.needs_naming == ()
