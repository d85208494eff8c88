from __future__ import annotations

import re
import tracemalloc

import pytest

from nova_desktop.model import Denied
from nova_desktop.sandbox.wasm import denied
from nova_desktop.sandbox.wasm.denied import MAX_ENTRIES, MAX_TARGET_CHARACTERS, DeniedLog


def recorded(target: bytes | str) -> str:
    log = DeniedLog()
    log.record("op", target, "rule")
    return log.entries()[0].target


def test_equal_refusals_are_counted_and_others_kept_in_order() -> None:
    log = DeniedLog()
    for target in ("b", "a", "b", "b"):
        log.record("path_open", target, "wasi.read_only")
    log.record("path_open", "a", "wasi.path_escape")
    log.record("path_link", "a", "wasi.path_escape")
    assert log.entries() == (
        Denied("path_open", "b", "wasi.read_only", 3),
        Denied("path_open", "a", "wasi.read_only", 1),
        Denied("path_open", "a", "wasi.path_escape", 1),
        Denied("path_link", "a", "wasi.path_escape", 1),
    )


def test_a_hundred_distinct_ones_are_listed_and_the_rest_counted() -> None:
    log = DeniedLog()
    for i in range(250):
        log.record("op", f"target {i}", "rule")
    log.record("op", "target 7", "rule")
    assert len(log.entries()) == MAX_ENTRIES == 100
    assert log.entries()[7].count == 2
    assert log.unlisted == 150


@pytest.mark.security
def test_a_flood_of_long_distinct_targets_stays_small() -> None:
    log = DeniedLog()
    tracemalloc.start()
    try:
        for i in range(20_000):
            log.record("op", b"%d" % i + b"\x1b" * 4096, "rule")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 256 * 1024
    assert log.unlisted == 19_900


@pytest.mark.security
@pytest.mark.parametrize(
    "target",
    [
        "a\x1b[2Jb",
        "a\r\nb",
        "\x00",
        "\x7f\x9b31m",
        "evil\u202etxt.exe",
        "\u2028\u2029\u200b",
        "\ud800",
        "\U000e0041",
        b"\xff\xfe\x1b",
        b"\xed\xb3\xbf",
    ],
)
def test_a_target_is_one_harmless_line(target: bytes | str) -> None:
    shown = recorded(target)
    assert shown.isprintable()
    assert "\\" in shown
    shown.encode()


def test_readable_targets_stay_as_they_are() -> None:
    for target in ("/etc/passwd", "work/ä 日本 😊", "C:\\Users"):
        assert recorded(target) == target
        assert recorded(target.encode()) == target


def test_a_target_is_cut_at_256_characters() -> None:
    assert recorded("x" * 10_000) == "x" * MAX_TARGET_CHARACTERS
    assert recorded("😊".encode() * 10_000) == "😊" * MAX_TARGET_CHARACTERS
    assert len(recorded("\x1b" * 10_000)) == MAX_TARGET_CHARACTERS


def test_rule_names_are_stable_dotted_words() -> None:
    rules = [value for name, value in vars(denied).items() if name.startswith("RULE_")]
    assert len(rules) == len(set(rules)) == 5
    assert all(re.fullmatch(r"[a-z]+(\.[a-z_]+)+", rule) for rule in rules)
