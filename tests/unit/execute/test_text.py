"""Foreign text in results is always valid UTF-8."""

from __future__ import annotations

import pytest

from nova_desktop.execute.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 😀", "plain ä 😀"),
        ("a\udcff", "a\\xff"),
        ("\ud800", "\\ud800"),
        ("\udcff\ud800", "\\udcff\\ud800"),
    ],
)
def test_surrogates_are_shown_as_escapes(text: str, shown: str) -> None:
    assert printable(text) == shown
    printable(text).encode()
