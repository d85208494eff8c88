"""Names an operating system cannot hold."""

from __future__ import annotations

import pytest

from nova_desktop.hostfs import NameRules, collision_key, name_problem
from nova_desktop.hostfs.names import is_temporary, temporary_name


def _code(name: str, rules: NameRules) -> str:
    problem = name_problem(name, rules)
    return "" if problem is None else problem.code


@pytest.mark.parametrize(
    "name",
    ["report.csv", "näme", "a b", ".hidden", "x" * 255, "console.txt", "com10", "aux-1", "a~1b"],
)
def test_ordinary_names_are_held_everywhere(name: str) -> None:
    assert _code(name, NameRules.POSIX) == ""
    assert _code(name, NameRules.WINDOWS) == ""


@pytest.mark.parametrize(
    "name",
    [
        "a:b.txt",
        "notes.txt::$DATA",
        "con",
        "CON.txt",
        "nul.tar.gz",
        "com1",
        "COM¹",
        "lpt9.log",
        "aux .txt",
        "conin$",
        "x.",
        "x ",
        "näme\nzwei.txt",
        "what?.txt",
        "a\\b",
        'say "hi"',
        "GRANTE~1",
        "PROGRA~1.TXT",
    ],
)
def test_names_that_windows_would_hold_as_something_else(name: str) -> None:
    assert _code(name, NameRules.WINDOWS) == "name.reserved"
    assert _code(name, NameRules.POSIX) == ""


@pytest.mark.parametrize("rules", NameRules)
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b"])
def test_what_leads_elsewhere_is_not_a_name(name: str, rules: NameRules) -> None:
    assert _code(name, rules) == "name.not_a_name"


def test_length_is_counted_in_bytes_on_posix_and_in_utf16_units_on_windows() -> None:
    assert _code("x" * 256, NameRules.POSIX) == "name.too_long"
    assert _code("ä" * 128, NameRules.POSIX) == "name.too_long"
    assert _code("ä" * 255, NameRules.WINDOWS) == ""
    assert _code("x" * 300, NameRules.WINDOWS) == "name.too_long"


def test_undecodable_bytes_are_not_a_name() -> None:
    assert _code(b"\xff".decode("utf-8", "surrogateescape"), NameRules.POSIX) == "name.not_unicode"


@pytest.mark.parametrize(
    ("one", "other"),
    [("README", "readme"), ("Straße", "STRASSE"), ("\u00e9", "e\u0301"), ("\u00c9", "e\u0301")],
)
def test_names_that_some_file_system_takes_for_one(one: str, other: str) -> None:
    assert collision_key(one) == collision_key(other)


def test_temporary_names_are_known_again() -> None:
    assert is_temporary(temporary_name("0a1b"))
    assert name_problem(temporary_name("0a1b"), NameRules.WINDOWS) is None
    assert not is_temporary(".nova-notes")
    assert not is_temporary("a.tmp")


def test_different_names_do_not_collide() -> None:
    assert collision_key("a.txt") != collision_key("b.txt")
    assert collision_key("é") != collision_key("e")
