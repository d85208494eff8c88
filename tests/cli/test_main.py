"""The edges: help, version, usage errors, completion."""

from __future__ import annotations

import pytest

import nova_desktop
from tests.cli.conftest import Nova


def test_version(nova: Nova) -> None:
    assert nova("version").stdout == f"nova {nova_desktop.__version__}\n"


def test_help_names_every_command_and_option(nova: Nova) -> None:
    text = nova("--help").stdout
    for command in ("run", "doctor", "prompt", "version"):
        assert command in text
    text = nova("run", "--help").stdout
    for option in ("--work", "--write", "--timeout", "--memory", "--env", "--runtime", "--json"):
        assert option in text
    for default in ("(30)", "(512M)", "(wasm)", "ask", "UTC"):
        assert f"default: {default}" in text
    assert "/work, a copy in memory" in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "see"),
    [
        (("frobnicate",), "nova --help"),
        (("run", "--wrok", "x"), "nova run --help"),
        (("run", "x.py", "--timeout", "soon"), "nova run --help"),
        (("doctor", "--nonsense"), "nova doctor --help"),
    ],
)
def test_a_wrong_command_line_is_told_in_our_own_form(
    nova: Nova, arguments: tuple[str, ...], see: str
) -> None:
    ended = nova(*arguments)
    assert ended.stdout == ""
    assert "request.usage" in ended.stderr
    assert f"what to do: See {see}." in ended.stderr
    assert ended.code == 2


def test_no_arguments_show_the_help(nova: Nova) -> None:
    ended = nova()
    assert "doctor" in ended.stdout + ended.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(nova: Nova, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    ended = nova("--show-completion", shell)
    assert "_NOVA_COMPLETE" in ended.stdout
    assert ended.code == 0
