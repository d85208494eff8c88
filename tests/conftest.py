"""What holds for every test: its own home folder, honest skips, a count of security tests.

``NOVA_TEST_HOME``    a folder to use, and to keep, as the tests' home: compiled guests are then
                      reused from one run to the next. Without it each run starts from nothing.
``NOVA_TEST_REPORT``  a file that gets the outcome of every security test, for CI.
``CI=true``           a test that was skipped for lack of something fails instead: CI has
                      everything. Only a reason that begins with "only on" (another operating
                      system) may stand.
"""

from __future__ import annotations

import collections
import json
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests import isolation

ISOLATION = isolation.enter(os.environ.get("NOVA_TEST_HOME"))
SKIP_ALLOWED = "only on"

_security: dict[str, str] = {}
"""Outcome of each test that is marked ``security``."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "security: shows that a boundary holds; CI counts them")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The isolation test judges all others, so it comes last."""
    items.sort(key=lambda item: item.nodeid.startswith("tests/test_isolation.py"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get("CI") and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if not reason.removeprefix("Skipped: ").startswith(SKIP_ALLOWED):
            report.outcome = "failed"
            report.longrepr = f"A skip is a failure in CI. {reason}"
    if item.get_closest_marker("security") and (report.when == "call" or not report.passed):
        _security[item.nodeid] = report.outcome
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _security:
        counts = sorted(collections.Counter(_security.values()).items())
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts)
        terminalreporter.write_line(f"Security tests: {told}")


def pytest_sessionfinish() -> None:
    report = os.environ.get("NOVA_TEST_REPORT")
    if report:
        Path(report).write_text(json.dumps(_security, indent=1), encoding="utf-8")


def pytest_unconfigure() -> None:
    if not os.environ.get("NOVA_TEST_HOME"):
        shutil.rmtree(ISOLATION.folder, ignore_errors=True)
