from __future__ import annotations

import pytest

from nova_desktop.cli.units import parse_size, size_in_words, time_in_words
from nova_desktop.model import InvalidRequest


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 512 << 20),
        ("1.5g", 3 << 29),
        ("64MiB", 64 << 20),
        ("64 kb", 64 << 10),
        ("4096", 4096),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text, "--memory") == size


@pytest.mark.parametrize("text", ["", "M", "12 parsecs", "1e9", "0x10", "１２", "1,5G"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_size(text, "--memory")
    assert caught.value.code == "request.bad_size"


@pytest.mark.parametrize("text", ["0", "-1M", "0.0K"])
def test_a_limit_is_greater_than_zero(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_size(text, "--memory")
    assert caught.value.code == "request.bad_limit"


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (2150, "2.1 KiB"),
        (10_240, "10 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (34 << 20, "34 MiB"),
        (5 << 30, "5.0 GiB"),
        (2000 << 30, "2000 GiB"),
    ],
)
def test_sizes_are_shown_short(size: int, words: str) -> None:
    assert size_in_words(size) == words


def test_times_are_shown_short() -> None:
    assert [time_in_words(t) for t in (0.61, 42.4, 1290)] == ["0.6 ms", "42 ms", "1.3 s"]
