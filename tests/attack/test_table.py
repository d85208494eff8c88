"""The table, the registry and the tests that run name the same attacks."""

from __future__ import annotations

from tests.attack.registry import ATTACKS
from tests.attack.table import NAMES, TABLE, render


def test_the_table_is_what_the_registry_says() -> None:
    assert TABLE.read_text(encoding="utf-8") == render()


def test_there_are_at_least_120_distinct_attacks() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 120


def test_every_attack_has_a_control() -> None:
    assert all(attack.control for attack in ATTACKS)
