"""One plain sentence for a program that met the edge of the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from nova_desktop.execute.hints import (
    JAVASCRIPT_MODULES,
    JAVASCRIPT_NAMES,
    PYTHON_PACKAGES,
    PYTHON_STDLIB,
    find_hint,
    output_hint,
)
from nova_desktop.model import ExecutionRequest, Language, Limits, PathNote, Workspace
from nova_desktop.sandbox.wasm.program import GuestReport

PYTHON = ExecutionRequest(language=Language.PYTHON, source="")
WITH_FOLDER = ExecutionRequest(
    language=Language.PYTHON, source="", workspace=Workspace(path=Path("data"))
)
JAVASCRIPT = ExecutionRequest(language=Language.JAVASCRIPT, source="")


def _missing(module: str, request: ExecutionRequest = PYTHON) -> str:
    return find_hint(request, GuestReport(type="ModuleNotFoundError", module=module))


@pytest.mark.parametrize("module", PYTHON_PACKAGES)
def test_known_packages_say_what_to_use_instead(module: str) -> None:
    for name in (module, f"{module}.sub"):
        assert PYTHON_PACKAGES[module] in _missing(name)


@pytest.mark.parametrize("module", PYTHON_STDLIB)
def test_absent_standard_modules_say_why(module: str) -> None:
    assert PYTHON_STDLIB[module] in _missing(module)
    assert PYTHON_STDLIB[module] in find_hint(
        PYTHON, GuestReport(type="ImportError", module=module)
    )


def test_an_unknown_module_without_a_folder_may_be_a_sibling_file() -> None:
    assert "--work" in _missing("helpers")
    assert "nothing can be installed" in _missing("helpers", WITH_FOLDER)


def test_an_import_error_for_a_name_in_a_module_is_the_programs_own() -> None:
    assert find_hint(PYTHON, GuestReport(type="ImportError", message="cannot import")) == ""


def test_input_without_standard_input() -> None:
    report = GuestReport(type="EOFError", message="EOF when reading a line")
    assert "standard input" in find_hint(PYTHON, report)
    connected = ExecutionRequest(language=Language.PYTHON, source="", stdin=b"")
    assert find_hint(connected, report) == ""


@pytest.mark.parametrize(
    "path",
    [
        "C:\\Users\\me\\data.csv",
        "c:/data.csv",
        "\\\\server\\share\\x",
        "/home/me/data.csv",
        "/Users/me/data.csv",
        "~/data.csv",
        "/etc/passwd",
        "/mnt/data/x.csv",
        "/content/drive",
    ],
)
def test_paths_of_the_host_point_to_work(path: str) -> None:
    for request in (PYTHON, WITH_FOLDER, JAVASCRIPT):
        assert "/work" in find_hint(request, GuestReport(type="FileNotFoundError", path=path))
    message = f"[Errno 44] No such file or directory: '{path}'"
    assert "/work" in find_hint(PYTHON, GuestReport(type="FileNotFoundError", message=message))
    message = f"ENOENT: no such file or directory, open '{path}'"
    assert "/work" in find_hint(JAVASCRIPT, GuestReport(type="Error", message=message))


@pytest.mark.parametrize("path", ["data.csv", "/work/data.csv", "/tmp/x", "sub/a:b"])
def test_other_missing_files_are_the_programs_own(path: str) -> None:
    report = GuestReport(type="FileNotFoundError", path=path)
    assert find_hint(WITH_FOLDER, report) == ""


@pytest.mark.parametrize(
    "report",
    [
        GuestReport(type="PermissionError", message="os.system is not available"),
        GuestReport(type="PermissionError", message="not permitted", path="/etc/passwd"),
    ],
)
def test_a_refusal_is_not_explained_as_a_missing_file(report: GuestReport) -> None:
    assert find_hint(PYTHON, report) == ""


@pytest.mark.parametrize(
    "report",
    [
        GuestReport("OSError", "[Errno 69] Read-only file system: '/usr/x'", "", "/usr/x"),
        GuestReport("Error", "EROFS: read-only file system, open '/usr/x'", "", "/usr/x"),
    ],
)
def test_a_place_that_cannot_be_written_names_those_that_can(report: GuestReport) -> None:
    for request in (PYTHON, JAVASCRIPT):
        assert "/work" in find_hint(request, report)
        assert "/tmp" in find_hint(request, report)


def test_sqlite_does_not_say_which_file_is_missing() -> None:
    report = GuestReport(type="OperationalError", message="unable to open database file")
    assert "/work" in find_hint(PYTHON, report)


def test_functions_of_os_that_a_sandbox_cannot_have() -> None:
    report = GuestReport(type="AttributeError", message="module 'os' has no attribute 'fork'")
    assert "os.fork" in find_hint(PYTHON, report)
    other = GuestReport(type="AttributeError", message="module 'json' has no attribute 'fork'")
    assert find_hint(PYTHON, other) == ""


def test_a_missing_file_without_any_folder_names_the_option() -> None:
    assert "--work" in find_hint(PYTHON, GuestReport(type="FileNotFoundError", path="data.csv"))


@pytest.mark.parametrize("name", JAVASCRIPT_NAMES)
def test_globals_of_other_hosts(name: str) -> None:
    report = GuestReport(type="ReferenceError", message=f"{name} is not defined", module=name)
    assert JAVASCRIPT_NAMES[name] in find_hint(JAVASCRIPT, report)


@pytest.mark.parametrize("name", JAVASCRIPT_MODULES)
def test_modules_of_node_and_npm(name: str) -> None:
    for spelling in (name, f"node:{name}"):
        report = GuestReport(type="Error", module=spelling)
        assert JAVASCRIPT_MODULES[name] in find_hint(JAVASCRIPT, report)


def test_a_javascript_module_that_is_no_known_one() -> None:
    message = "Cannot find module './helper.js' imported from main.js"
    report = GuestReport(type="Error", message=message, module="./helper.js")
    assert "--work" in find_hint(JAVASCRIPT, report)
    package = GuestReport(type="Error", message="Cannot find module 'left-pad'", module="left-pad")
    assert "npm" in find_hint(JAVASCRIPT, package)


@pytest.mark.parametrize("path", ["secret.txt", "/work/secret.txt", "./closed/a.txt"])
def test_a_file_that_was_left_out_says_why(path: str) -> None:
    left_out = [
        PathNote("closed", "no permission to read it", "left_out.unreadable"),
        PathNote("secret.txt", "it is a link", "left_out.link"),
    ]
    hint = find_hint(WITH_FOLDER, GuestReport(type="FileNotFoundError", path=path), left_out)
    assert "was not shown to the program" in hint


@pytest.mark.parametrize(
    "report",
    [
        None,
        GuestReport(),
        GuestReport(type="ValueError", message="/home is not a number"),
        GuestReport(type="KeyError", message="'C:\\\\x'"),
        GuestReport(type="\x1b[31m", message="\ud800", module="../..", path="\0"),
    ],
)
def test_other_failures_get_no_hint(report: GuestReport | None) -> None:
    assert find_hint(WITH_FOLDER, report) == ""


def test_the_output_hint_states_the_cap_and_the_way_out() -> None:
    request = ExecutionRequest(
        language=Language.PYTHON, source="", limits=Limits(output_bytes=8 << 10)
    )
    assert "8 KB" in output_hint(request)
    assert "file in /work" in output_hint(request)


def test_hints_are_one_line() -> None:
    tables = (PYTHON_PACKAGES, PYTHON_STDLIB, JAVASCRIPT_NAMES, JAVASCRIPT_MODULES)
    assert not any("\n" in hint for table in tables for hint in table.values())


def test_a_hostile_report_cannot_make_the_search_slow() -> None:
    report = GuestReport(type="FileNotFoundError", message="/home " * 10_000, path="~" * 60_000)
    find_hint(PYTHON, report)
