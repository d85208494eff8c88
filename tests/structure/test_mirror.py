"""``tests/unit`` mirrors the package: each module has the test file of its name."""

from __future__ import annotations

from pathlib import Path

from tests.structure.repository import ROOT, modules

UNIT = ROOT / "tests" / "unit"

TESTED_ELSEWHERE = {
    # Front ends are tested from outside, by what a person types and reads.
    "__main__.py": "tests/cli",
    # Shapes without behaviour.
    "sandbox/runtime.py": "tests/unit/execute/test_service.py",
    "sandbox/wasm/program.py": "tests/unit/sandbox/wasm/test_runtime.py",
}
"""Modules without a unit test of their own, and where they are tested. Must only shrink."""


def unit_test_of(module: Path) -> Path:
    return UNIT / module.parent / f"test_{module.stem.lstrip('_')}.py"


def expected() -> list[Path]:
    return [m for m in modules() if m.parts[0] != "cli" and str(m) not in TESTED_ELSEWHERE]


def test_each_module_has_its_test_file() -> None:
    missing = [str(module) for module in expected() if not unit_test_of(module).is_file()]
    assert not missing


def test_each_unit_test_file_has_its_module() -> None:
    wanted = {unit_test_of(module) for module in modules()}
    wanted |= {unit_test_of(Path(m.parent, "__init__.py")) for m in modules()}
    orphans = [str(p.relative_to(ROOT)) for p in UNIT.rglob("test_*.py") if p not in wanted]
    assert not orphans


def test_exceptions_are_still_needed() -> None:
    assert set(TESTED_ELSEWHERE) <= {str(module) for module in modules()}
    for module, place in TESTED_ELSEWHERE.items():
        assert (ROOT / place).exists()
        assert not unit_test_of(Path(module)).exists(), f"{module} has a test; drop the exception"
