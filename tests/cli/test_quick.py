"""The quick way to ``nova run`` understands a command line exactly as typer does, or leaves it."""

from __future__ import annotations

import shlex

import pytest

from nova_desktop.cli import run as declared
from nova_desktop.cli.app import app
from nova_desktop.cli.quick import quick_options
from nova_desktop.cli.running import RunOptions


def by_typer(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> RunOptions:
    seen: list[RunOptions] = []

    def note(options: RunOptions) -> int:
        seen.append(options)
        return 0

    monkeypatch.setattr(declared, "run_program", note)
    app(arguments, standalone_mode=False)
    return seen[0]


@pytest.mark.parametrize(
    "line",
    [
        "run",
        "run -",
        "run a.py",
        "run a.py b c",
        "run a.py --work d -- --json -x",
        "run --work d a.py -- a",
        "run -- a.py --json",
        "run -l python - --env A=1 --env=B=2=3",
        "run a.py -w d --write yes --timeout 1.5 --memory 64M --timezone Europe/Berlin",
        "run a.py --runtime=local --json --raw --no-stdin",
        "run a.py --no-stdin --stdin --write=no",
        "run a.py --timeout 1 --timeout 2",
        "run a.py --work=",
        "run a.py -l -",
    ],
)
def test_both_ways_agree(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = shlex.split(line)
    quick = quick_options(arguments)
    assert quick is not None
    assert quick == by_typer(arguments, monkeypatch)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "doctor",
        "--help",
        "run --help",
        "run -h",
        "run a.py --wrok d",
        "run a.py --work",
        "run a.py --write perhaps",
        "run a.py --timeout soon",
        "run a.py -lpython",
        "run a.py -l=python",
        "run a.py --raw=1",
        "run a.py --j",
    ],
)
def test_anything_unusual_is_left_to_typer(line: str) -> None:
    assert quick_options(shlex.split(line)) is None
