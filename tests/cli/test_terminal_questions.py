"""What happens on a real terminal: the question, Ctrl-C, progress, and hostile output.

Each test is ``nova`` in a pseudo-terminal over an engine that plays one scenario.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("pty", reason="only on systems with pseudo-terminals")

from tests.cli.pseudo_terminal import Terminal

security = pytest.mark.security


Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    program = tmp_path / "program.py"
    program.write_text("print(1)\n")
    started: list[Terminal] = []

    def run(scenario: str, *arguments: str) -> Terminal:
        work = ("run", str(program), "--work", str(tmp_path), *arguments)
        started.append(Terminal("tests.cli.fake_engine", scenario, *work))
        return started[-1]

    yield run
    for terminal in started:
        terminal.close()


QUESTION = "leave the folder as it is: "


def test_the_word_allow_writes(start: Start) -> None:
    terminal = start("changes")
    before = terminal.read_until(QUESTION)
    assert "program says hello\n" in before, "the question begins on a line of its own"
    assert "│ created" in before
    terminal.type("allow\n")
    assert "written: 1 of 1" in terminal.finish()
    assert terminal.exit_code == 0


@security
@pytest.mark.parametrize("answer", ["\n", "yes\n", "y\n", "ALLOW\n", "allow it\n", "\x04", "\x03"])
def test_any_other_answer_writes_nothing(start: Start, answer: str) -> None:
    terminal = start("changes")
    terminal.read_until(QUESTION)
    terminal.type(answer)
    assert "nothing was written" in terminal.finish()
    assert terminal.exit_code == 0


@security
def test_what_was_typed_before_the_question_is_no_answer(start: Start) -> None:
    terminal = start("slow")
    terminal.read_until("started")
    terminal.type("allow\n")
    terminal.read_until(QUESTION)
    # The dropped line would have been read at once; silence shows that the question still waits.
    time.sleep(0.3)
    assert "written" not in terminal.seen
    terminal.type("\n")
    assert "nothing was written" in terminal.finish()


def test_the_same_line_typed_after_the_question_is_an_answer(start: Start) -> None:
    """The control of the test above."""
    terminal = start("slow")
    terminal.read_until(QUESTION)
    terminal.type("allow\n")
    assert "written: 1 of 1" in terminal.finish()


@security
def test_a_hostile_name_stays_one_quoted_line_in_the_question(start: Start) -> None:
    terminal = start("evil")
    before = terminal.read_until(QUESTION)
    assert "a\\u202egpj.exe\\n\\u2502 ok\\x1b[2J" in before
    assert "\u202e" not in before
    assert "\x1b[2J" not in before
    assert re.search(r"^│ created .*a\\u202e", before, re.MULTILINE)


@security
def test_a_programs_colour_ends_before_the_question(start: Start) -> None:
    before = start("evil").read_until(QUESTION)
    assert before.index("\x1b[31m") < before.index("\x1b[0m") < before.index("wants to change")


def test_raw_passes_everything(start: Start) -> None:
    """The control of the filter: without it the program's sequence reaches the terminal."""
    before = start("evil", "--raw").read_until(QUESTION)
    assert "\x1b[2J" in before


@security
def test_files_that_other_programs_obey_are_asked_about_apart(start: Start) -> None:
    terminal = start("sensitive")
    first = terminal.read_until(QUESTION)
    assert ".git" not in first
    terminal.type("allow\n")
    terminal.seen = ""
    second = terminal.read_until(QUESTION)
    assert ".git/hooks/x: git runs it" in second
    terminal.type("\n")
    assert "written: 1 of 2" in terminal.finish()


def test_ctrl_c_stops_the_run_keeps_output_and_writes_nothing(start: Start) -> None:
    terminal = start("until-stopped")
    terminal.read_until("partial")
    terminal.type("\x03")
    seen = terminal.finish()
    assert "stopped by you" in seen
    assert "nothing was written" in seen
    assert "Traceback" not in seen
    assert terminal.exit_code == 130


def test_slow_preparation_is_explained_and_its_line_goes_away(start: Start) -> None:
    terminal = start("compiling")
    seen = terminal.finish()
    assert "Preparing \\x1b[2J guests" in seen
    assert "\r\x1b[Kready" in seen
    assert "│ path_symlink /etc/\\u202epasswd" in seen


def test_write_no_asks_nothing(start: Start) -> None:
    terminal = start("changes", "--write", "no")
    assert QUESTION not in terminal.finish()
    assert terminal.exit_code == 0


@pytest.mark.parametrize("encoding", ["cp1252", "gbk"])
def test_a_terminal_with_a_legacy_code_page_shows_what_it_can(
    start: Start, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    terminal = start("bullets")
    seen = terminal.finish()
    assert "\\U0001f60a" in seen
    assert "Traceback" not in seen
    assert "internal.bug" not in seen
    assert terminal.exit_code == 0
