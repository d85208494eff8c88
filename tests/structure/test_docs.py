"""What the docs say exists, and what exists is in the docs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dev
from tests.structure.repository import PACKAGE, ROOT, files

README = (ROOT / "README.md").read_text(encoding="utf-8")
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
CODE = re.compile(r"[a-z][a-z_]*(?:\.[a-z_0-9]*[a-z0-9])+")


TABLES_OF_NAMES = {"execute/hints.py", "execute/runs_outside.py", "execute/forbidden.py"}
"""Files and modules of the world outside; their names look like codes."""
NO_CODES = {"manifest.json", "python.wasm", "javascript.wasm", "nova.call"}


def codes_in(source: str) -> set[str]:
    """Every text in some code that has the form of an error code."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and CODE.fullmatch(text)}


def codes_of_package() -> set[str]:
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        if str(path.relative_to(PACKAGE)) not in TABLES_OF_NAMES:
            found |= codes_in(path.read_text(encoding="utf-8"))
    return found - NO_CODES


def documented() -> set[str]:
    return set(re.findall(r"^\| `([a-z_.0-9]+)` \|", ERRORS, flags=re.MULTILINE))


def test_every_error_code_is_documented() -> None:
    undocumented = sorted(codes_of_package() - documented())
    assert not undocumented


def test_every_documented_code_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    unused = sorted(code for code in documented() if f'"{code}"' not in text)
    assert not unused


def test_a_code_without_documentation_would_be_found() -> None:
    source = 'raise InvalidRequest("request.nobody_wrote_this_down", "…")'
    assert codes_in(source) - documented() == {"request.nobody_wrote_this_down"}


def test_the_readme_has_exactly_two_commands_to_begin_with() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    commands = [line.split("#")[0].strip() for line in blocks[0].splitlines() if line.strip()]
    assert commands == ["make run", "make test"]


def test_make_and_dev_py_have_the_same_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    line = re.search(r"^COMMANDS := (.*)$", makefile, flags=re.MULTILINE)
    assert line is not None
    assert line.group(1).split() == list(dev.COMMANDS)


def test_commands_that_the_docs_name_exist() -> None:
    named = set()
    for path in files():
        if path.suffix == ".md":
            text = (ROOT / path).read_text(encoding="utf-8")
            named |= set(re.findall(r"(?:`|^)make ([a-z-]+)", text, flags=re.MULTILINE))
            named |= set(re.findall(r"dev\.py ([a-z-]+)", text))
    assert {"run", "test"} <= named <= set(dev.COMMANDS)


LINKS = [
    (path, target)
    for path in files()
    if path.suffix == ".md"
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / path).read_text(encoding="utf-8"))
    if "://" not in target
]


@pytest.mark.parametrize(("page", "target"), LINKS, ids=lambda value: str(value))
def test_links_between_pages_lead_somewhere(page: Path, target: str) -> None:
    assert (ROOT / page.parent / target).exists()
