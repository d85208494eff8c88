"""The worked examples do what the README says, on a machine without a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Nova

ROOT = Path(__file__).parents[2]
SALES = ROOT / "examples" / "sales"


def test_the_worked_example_shows_the_whole_journey() -> None:
    ended = subprocess.run(
        [sys.executable, SALES / "run.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
    )
    text = ended.stdout
    assert ended.returncode == 0, text
    assert "3,600 orders" in text
    assert "│ created" in text
    assert "written: 3 of 3" in text
    assert "│ path_symlink" in text
    assert "nova: finished" in text
    assert "IT WORKED" not in text
    assert len(text.partition("Next:\n")[2].splitlines()) == 3


def test_its_results_are_those_of_a_native_run(nova: Nova, tmp_path: Path) -> None:
    ours, native = tmp_path / "ours", tmp_path / "native"
    for folder in (ours, native):
        folder.mkdir()
        for name in ("sales.csv", "report.py"):
            shutil.copy(SALES / name, folder)
    ended = nova("run", str(ours / "report.py"), "--work", str(ours), "--write", "yes")
    assert ended.code == 0, ended.stderr
    output = subprocess.run(
        [sys.executable, "report.py"], cwd=native, capture_output=True, text=True, check=True
    ).stdout
    assert "IT WORKED" in output, "natively the attempts succeed"
    for name in ("report.md", "revenue.svg"):
        expected = (native / "results" / name).read_bytes()
        assert (ours / "results" / name).read_bytes() == expected


def test_the_committed_data_is_what_its_script_makes(tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    script = shutil.copy(ROOT / "examples" / "make_sales_data.py", tmp_path)
    subprocess.run([sys.executable, script], check=True)
    made = (tmp_path / "sales" / "sales.csv").read_bytes()
    assert made == (SALES / "sales.csv").read_bytes()
    assert len(made) < 300_000


def test_the_javascript_example_counts_words(nova: Nova, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.md").write_text("Straße straße house\n", encoding="utf-8")
    (tmp_path / "deep" / "b.txt").write_text("house\nhouse\n", encoding="utf-8")
    program = str(ROOT / "examples" / "words.js")
    ended = nova("run", program, "--work", str(tmp_path), "--write", "yes")
    assert ended.code == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "2 files, 2 different words"
    assert (tmp_path / "words.json").read_text(encoding="utf-8") == (
        '{\n  "house": 3,\n  "straße": 2\n}\n'
    )
