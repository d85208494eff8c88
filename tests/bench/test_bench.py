"""The measurements measure what they say: same work on both sides, whole tables. Never a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cpu import FOLDER, PROGRAMS
from bench.table import Row, Section, median_row
from bench.timing import interleaved
from bench.tools import NotAvailable, run
from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import Language

ROOT = Path(__file__).parents[2]


def test_each_program_does_the_same_work_in_the_guest_and_natively() -> None:
    with Engine.open() as engine:
        for name in PROGRAMS:
            source = (FOLDER / f"{name}.py").read_text(encoding="utf-8") + "\nprint(repr(work()))"
            result = engine.execute(ExecutionRequest(language=Language.PYTHON, source=source))
            native = run([sys.executable, "-I", "-c", source])
            assert (name, result.stdout) == (name, native), result.stderr


def test_every_program_is_measured() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")}
    assert files == {*PROGRAMS, "hello"}


def test_a_group_can_be_measured_alone_and_as_json() -> None:
    home = os.environ["NOVA_HOME"]  # the tests' own, where the guests are compiled already
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--json", "--only", "calls", "--home", home],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (section,) = json.loads(ended.stdout)["sections"]
    assert section["unit"] == "µs"
    assert all(row["value"] > 0 for row in section["rows"])


def test_an_unknown_group_is_told() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "nothing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "There is no nothing" in ended.stderr


def test_a_table_compares_with_its_baseline_and_names_what_is_missing() -> None:
    rows = [Row("ours", 0.5), Row("native", 10.0), Row("other", None, "not installed")]
    lines = Section("Start", "ms", rows, baseline="native").lines()
    assert lines[2].split() == ["ours", "0.500", "ms", "0.05", "x"]
    assert lines[4] == "other   not available: not installed"


def test_contenders_take_turns_and_a_first_round_is_dropped() -> None:
    order: list[str] = []
    samples = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b"] * 3
    assert [len(times) for times in samples.values()] == [2, 2]


def test_the_median_is_told_with_its_range() -> None:
    row = median_row("x", [5.0, 1.0, 3.0])
    assert (row.value, row.note) == (3.0, "(1.00 to 5.00)")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["no-such-program-here"], "no-such-program-here is not installed"),
        ([sys.executable, "-c", "import sys; sys.exit('broken')"], "failed: broken"),
    ],
)
def test_a_contender_that_cannot_run_says_why(command: list[str], reason: str) -> None:
    with pytest.raises(NotAvailable, match=reason):
        run(command)
