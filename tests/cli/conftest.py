from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.fake_engine import FakeEngine


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """A fake engine that ``nova`` finds in place of the real one."""
    fake = FakeEngine()
    monkeypatch.setattr("nova_desktop.engine.Engine", fake)
    return fake


@dataclass(frozen=True)
class Ended:
    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document that is all of stdout."""
        return json.loads(self.stdout)


Nova = Callable[..., Ended]


@pytest.fixture
def nova(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Nova:
    """Runs one command line in this process, with ``stdin`` piped into it."""
    from nova_desktop.cli.main import run_command_line

    def call(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run_command_line(arguments)
        captured = capfd.readouterr()
        return Ended(code, captured.out, captured.err)

    return call
