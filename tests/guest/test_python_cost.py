"""What a run costs, counted in calls of the guest to the host: the same on every machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nova_desktop.model import Language
from nova_desktop.sandbox.wasm.runtime import WasmRuntime
from nova_desktop.sandbox.wasm.wasi import SIGNATURES, WasiHost
from nova_desktop.settings.paths import Paths
from tests.guest.conftest import Programs


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Programs, Counter[str]]]:
    calls: Counter[str] = Counter()

    def counting(name: str, function: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            calls[name] += 1
            return function(*arguments)

        return call

    for name in SIGNATURES:
        monkeypatch.setattr(WasiHost, name, counting(name, getattr(WasiHost, name)))
    folder = os.environ.get("NOVA_TEST_GUESTS")
    runtime = WasmRuntime(
        dist=Path(folder) if folder else None, cache=Paths.find(None, os.environ).cache
    )
    runtime.prepare(Language.PYTHON)
    yield Programs(runtime, Language.PYTHON), calls
    runtime.close()


def test_a_small_program_makes_few_host_calls(counted: tuple[Programs, Counter[str]]) -> None:
    python, calls = counted
    python("print(1 + 1)", check=True)
    assert calls["fd_write"] == 1
    assert calls.total() <= 10, calls


@pytest.mark.parametrize(
    "module",
    [
        "asyncio", "argparse", "collections", "csv", "dataclasses", "datetime", "decimal", "json",
        "logging", "pathlib", "random", "re", "sqlite3", "statistics", "tempfile", "typing",
        "unittest", "urllib.request", "uuid", "xml.etree.ElementTree", "zipfile", "zoneinfo",
    ],
)  # fmt: skip
def test_preloaded_modules_are_imported_without_the_host(
    counted: tuple[Programs, Counter[str]], module: str
) -> None:
    python, calls = counted
    python("pass", check=True)
    before = calls.total()
    python(f"import {module}", check=True)
    assert calls.total() == 2 * before, calls


def test_a_module_of_the_library_is_read_with_few_calls(
    counted: tuple[Programs, Counter[str]],
) -> None:
    python, calls = counted
    python("import colorsys, sched", check=True)
    assert calls["path_open"] <= 3, calls
    assert calls.total() <= 40, calls
