"""What a hostile program may write on the owner's terminal: text, and colours."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nova_desktop.cli.foreign_text import TerminalFilter, escape, escape_line

pytestmark = pytest.mark.security


def shown(*pieces: bytes) -> str:
    text_filter = TerminalFilter()
    return "".join(text_filter.feed(piece) for piece in pieces) + text_filter.finish()


def test_ordinary_text_passes_unchanged() -> None:
    text = "Grüße ●😊 日本語 עברית\tcolumn\nnext line\n"
    assert shown(text.encode()) == text


@pytest.mark.parametrize(
    ("attack", "seen"),
    [
        (b"\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),  # window title
        (b"\x1b]52;c;cm0gLXJm\x07", "\\x1b]52;c;cm0gLXJm\\x07"),  # clipboard
        (b"\x1b[2J\x1b[1;1H", "\\x1b[2J\\x1b[1;1H"),  # clear the screen, write over it
        (b"\x1b[6n", "\\x1b[6n"),  # makes the terminal type an answer
        (b"\x1bP$qm\x1b\\", "\\x1bP$qm\\x1b\\"),  # DECRQSS, likewise
        (b"\xc2\x9b2J", "\\x9b2J"),  # CSI as one C1 character
        (b"real\rfake\n", "real\\rfake\n"),  # writes over its own line
        (b"ab\x08c", "ab\\x08c"),
        (b"\x00\x07\x0b\x0c\x7f", "\\x00\\x07\\x0b\\x0c\\x7f"),
        ("photo\u202egpj.exe".encode(), "photo\\u202egpj.exe"),
        ("\u2066a\u2069\u200f\u061c".encode(), "\\u2066a\\u2069\\u200f\\u061c"),
        ("one\u2028two".encode(), "one\\u2028two"),
        ("\U000e0041\U000e0042".encode(), "\\U000e0041\\U000e0042"),
    ],
)
def test_what_controls_a_terminal_or_reorders_text_is_written_out(attack: bytes, seen: str) -> None:
    assert shown(attack) == seen


@pytest.mark.parametrize(
    "colour",
    [
        b"\x1b[31m",
        b"\x1b[1;4;97;40m",
        b"\x1b[38;5;8m",  # 8 here is a palette index, not "conceal"
        b"\x1b[38;2;8;8;8m",
        b"\x1b[48:2:1:2:3m",
        b"\x1b[m",
    ],
)
def test_colours_pass_and_end_with_the_stream(colour: bytes) -> None:
    assert shown(colour + b"text") == colour.decode() + "text\x1b[0m"


@pytest.mark.parametrize(
    "hidden", [b"\x1b[8m", b"\x1b[31;8m", b"\x1b[5m", b"\x1b[11m", b"\x1b[38;9m"]
)
def test_sequences_that_hide_text_or_blink_are_no_colours(hidden: bytes) -> None:
    assert shown(hidden) == "\\x1b" + hidden[1:].decode()


def test_an_absurdly_long_colour_is_written_out() -> None:
    sequence = b"\x1b[" + b"1;" * 100 + b"1m"
    assert shown(sequence).startswith("\\x1b[1;")


def test_windows_line_ends_are_line_ends() -> None:
    assert shown(b"a\r\nb\r", b"\nc\r") == "a\nb\nc\\r"


def test_a_split_character_waits_for_its_other_half() -> None:
    text_filter = TerminalFilter()
    first = "é".encode()[:1]
    assert text_filter.feed(first) == ""
    assert text_filter.feed("é".encode()[1:]) == "é"


def test_invalid_utf8_becomes_the_replacement_character() -> None:
    assert shown(b"a\xff\xfeb", b"\xf0\x9f") == "a��b�"


def test_an_unfinished_sequence_is_written_out_at_the_end() -> None:
    assert shown(b"\x1b[3") == "\\x1b[3"


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_where_the_pieces_are_cut_changes_nothing(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert shown(*pieces) == shown(data)


@given(
    st.lists(
        st.sampled_from(
            [
                "\x1b",
                "[",
                "]",
                "3",
                "8",
                ";",
                "m",
                "J",
                "\r",
                "\n",
                "\x9b",
                "\u202e",
                "a",
                "\x07",
                ":",
            ]
        ),
        max_size=40,
    )
)
def test_nothing_but_colours_line_ends_and_tabs_survives(parts: list[str]) -> None:
    text = shown("".join(parts).encode())
    while "\x1b" in text:
        before, _, after = text.partition("\x1b")
        body, end, rest = after.partition("m")
        assert end
        assert body[0] == "["
        assert set(body[1:]) <= set("0123456789;:")
        text = before + rest
    assert not [c for c in text if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert "\u202e" not in text


def test_a_name_stays_on_one_line_and_shows_no_colour() -> None:
    assert escape_line("a\nb\tc\x1b[31md\udcff") == "a\\nb\\tc\\x1b[31md\\udcff"
    assert escape("a\nb\x1b[31m") == "a\nb\\x1b[31m"


@pytest.mark.security
def test_a_name_can_neither_hide_a_character_nor_begin_a_line_of_ours() -> None:
    assert escape_line("re\u200bport\ufeff\u3164") == "re\\u200bport\\ufeff\\u3164"
    assert (
        escape_line("a" + " " * 60 + "│ deleted  taxes")
        == "a" + " " * 60 + "\\u2502 deleted  taxes"
    )
    assert escape_line("नमस्\u200dते 👩\u200d💻 ❤\ufe0f") == "नमस्\u200dते 👩\u200d💻 ❤\ufe0f"
