"""The first start: how long compiling takes, and what stays on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.table import Row, Section
from bench.timing import milliseconds
from nova_desktop.model import Language
from nova_desktop.sandbox.wasm import WasmRuntime
from nova_desktop.sandbox.wasm.guests import Guests

MIB = 1 << 20


def first_start() -> list[Section]:
    languages = (Language.PYTHON, Language.JAVASCRIPT)
    with tempfile.TemporaryDirectory() as temporary:
        cache = Path(temporary) / "cache"
        cache.mkdir(mode=0o700)
        compiling = [
            Row(f"compile {language}", _prepare(cache, language)) for language in languages
        ]
        loading = [
            Row(f"load {language} from the cache", _prepare(cache, language))
            for language in languages
        ]
        sizes = [
            Row("guests and library pack, as shipped", _size(Guests().folder)),
            Row("compiled guests", _size(cache)),
        ]
    total = Row("together", sum(row.value or 0.0 for row in sizes))
    return [
        Section("First start", "s", [*compiling, *loading]),
        Section("On disk", "MiB", [*sizes, total]),
    ]


def _prepare(cache: Path, language: Language) -> float:
    runtime = WasmRuntime(cache=cache)
    try:
        return milliseconds(lambda: runtime.prepare(language)) / 1e3
    finally:
        runtime.close()


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MIB
