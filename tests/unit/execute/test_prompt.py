"""What an AI model is told about this sandbox."""

from __future__ import annotations

from nova_desktop.execute.hints import PYTHON_PACKAGES
from nova_desktop.execute.prompt import describe_sandbox
from nova_desktop.model import Limits


def test_ten_lines_name_what_there_is_and_what_is_not() -> None:
    text = describe_sandbox(["openpyxl", "pypdf"], python="3.13.5", limits=Limits())
    assert len(text.splitlines()) == 10
    for word in ("/work", "3.13.5", "openpyxl", "numpy", "subprocess", "fetch", "30 s", "512 MB"):
        assert word in text
    assert PYTHON_PACKAGES["pandas"] in text


def test_without_a_library_pack_it_says_so() -> None:
    assert "none" in describe_sandbox([], python="3.13", limits=Limits())
