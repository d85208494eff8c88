"""Nothing in the repository tells on which machine it was written, or needs that machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.structure.repository import text_files

# Written in pieces, so that this file does not find itself.
TRACES = {
    # /work/main.js is a program inside the sandbox.
    "a folder of somebody's machine": r"/work/(?:main|shared)(?![\w.])|/root/\w"
    r"|/home/(?!you\b|user\b|ann?a?\b)\w+/\w+|/Users/(?!you\b)\w+/\w"
    r"|C:\\Users\\(?!you\b)\w+\\\w+\\",
    "a temporary folder of one machine": r"/tmp/(?:venv|proto|brief)\b",
    "the address of a package host": r"https?://[\w.-]*(?:pypi\.org|pythonhosted\.org|npmjs\.org"
    r"|npmjs\.com|deb\.debian\.org|registry\.)",
    "a workplace word": r"\b(?:brief\.md|" + "sub" + r"agent|" + "Clau" + r"de Code)\b",
    "a key": r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bghp_[A-Za-z0-9]{36}\b",
}
SPEAKS_OF_HOST_PATHS = ("tests/", "nova_desktop/execute/hints.py")
"""Attacks and hints name paths that programs guess on other people's machines."""


def found(kind: str, text: str) -> list[str]:
    return [match.group() for match in re.finditer(TRACES[kind], text)]


@pytest.mark.parametrize("kind", TRACES)
def test_no_trace(kind: str) -> None:
    hits = {}
    for path, text in text_files().items():
        if path == Path("tests/structure/test_no_machine_traces.py"):
            continue
        if "folder" in kind and str(path).startswith(SPEAKS_OF_HOST_PATHS):
            continue
        if matches := found(kind, text):
            hits[str(path)] = matches[:3]
    assert not hits


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("a folder of somebody's machine", "see /work/main/dev.py"),
        ("a folder of somebody's machine", "see /home/alice/project"),
        ("a temporary folder of one machine", "/tmp/venv/bin/python"),
        ("the address of a package host", "--index-url https://pypi.org/simple"),
        ("a key", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ],
)
def test_a_trace_would_be_found(kind: str, text: str) -> None:
    assert found(kind, text)


def test_no_program_ends_others_by_name() -> None:
    """``pkill`` and ``killall`` hit processes that are not ours."""
    scripts = {p: t for p, t in text_files().items() if p.suffix in {".sh", ""} or "ci" in str(p)}
    assert not [p for p, text in scripts.items() if re.search(r"\b(?:pkill|killall)\b", text)]
