"""A request that makes no sense is answered with a code and a remedy, before anything runs."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from nova_desktop.execute.validate import (
    CHECKS,
    MAX_ARGUMENTS_BYTES,
    MAX_SOURCE_BYTES,
    read_program,
    validated,
)
from nova_desktop.model import (
    ExecutionRequest,
    InvalidRequest,
    Language,
    Limits,
    NovaError,
    RuntimeName,
    Workspace,
)
from tests.ordinary_user import run_as_ordinary_user

GOOD = ExecutionRequest(language=Language.PYTHON, source="print(1)")
WORK = Workspace(path=Path("somewhere"))


def _error(**changes: Any) -> NovaError:
    with pytest.raises(NovaError) as caught:
        validated(dataclasses.replace(GOOD, **changes))
    assert caught.value.message
    assert caught.value.remedy
    return caught.value


def test_a_good_request_passes_unchanged() -> None:
    assert validated(GOOD) == GOOD


def test_names_become_enums_for_callers_that_pass_text() -> None:
    request = dataclasses.replace(GOOD, language="javascript", runtime="wasm")  # type: ignore[arg-type]
    assert validated(request).language is Language.JAVASCRIPT
    assert validated(request).runtime is RuntimeName.WASM


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("request.unknown_language", {"language": "ruby"}),
        ("request.unknown_language", {"language": "Python"}),
        ("request.unknown_runtime", {"runtime": "podman"}),
        ("request.source_or_entry", {"source": None}),
        ("request.source_or_entry", {"entry": "a.py", "workspace": WORK}),
        ("request.source_has_nul", {"source": "print(1)\0"}),
        ("request.source_not_unicode", {"source": "print('\ud800')"}),
        ("request.source_too_large", {"source": "#" * (MAX_SOURCE_BYTES + 1)}),
        ("request.bad_source_name", {"source_name": ""}),
        ("request.bad_source_name", {"source_name": "a\0b"}),
        ("request.bad_source_name", {"source_name": "\udcff"}),
        ("request.entry_without_workspace", {"source": None, "entry": "a.py"}),
        ("request.files_and_workspace", {"files": {"a": b""}, "workspace": WORK}),
        ("request.bad_file", {"files": {"a": "text"}}),
        ("request.bad_file", {"files": {"/a": b""}}),
        ("request.bad_file", {"files": {"../a": b""}}),
        ("request.bad_file", {"files": {"a//b": b""}}),
        ("request.bad_file", {"files": {"": b""}}),
        ("request.bad_file", {"files": {"x" * 300: b""}}),
        ("request.bad_file", {"files": {"d/" * 70 + "a": b""}}),
        ("request.bad_file", {"files": {"a": b"", "a/b": b""}}),
        ("request.bad_argument", {"arguments": ("a\0b",)}),
        ("request.bad_argument", {"arguments": ("\ud800",)}),
        ("request.bad_argument", {"arguments": (1,)}),
        ("request.arguments_too_large", {"arguments": ("x" * (MAX_ARGUMENTS_BYTES + 1),)}),
        ("request.bad_stdin", {"stdin": "text"}),
        (
            "request.stdin_too_large",
            {"stdin": bytes(2000), "limits": Limits(memory_bytes=1000)},
        ),
        ("request.bad_environment_name", {"environment": {"A B": "x"}}),
        ("request.bad_environment_value", {"environment": {"A": "\0"}}),
        ("policy.credential_in_environment", {"environment": {"API_KEY": "x"}}),
        ("request.unknown_timezone", {"timezone": "Europe\\Berlin"}),
        ("request.unknown_timezone", {"timezone": "../../etc/passwd"}),
        ("request.unknown_timezone", {"timezone": "/etc/localtime"}),
        ("request.unknown_timezone", {"timezone": ""}),
    ],
)
def test_each_bad_request_has_its_code(code: str, changes: dict[str, Any]) -> None:
    assert _error(**changes).code == code


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "5", True, None])
def test_a_limit_is_a_positive_finite_number(field: str, value: object) -> None:
    error = _error(limits=dataclasses.replace(Limits(), **{field: value}))  # type: ignore[arg-type]
    assert error.code == "request.bad_limit"
    assert error.details == {"limit": field}


@pytest.mark.security
@pytest.mark.parametrize(
    "entry", ["/etc/passwd", "../a.py", "a/../../b.py", "./a.py", "a//b.py", "a\0.py", "", "a/"]
)
def test_an_entry_leads_nowhere_else(entry: str) -> None:
    assert _error(source=None, entry=entry, workspace=WORK).code == "request.bad_entry"


def test_an_entry_inside_passes() -> None:
    validated(dataclasses.replace(GOOD, source=None, entry="pkg/main.py", workspace=WORK))


def test_every_check_has_a_name_of_its_own() -> None:
    names = [check.__name__ for check in CHECKS]
    assert len(set(names)) == len(names)


# Program files


def _program_error(path: Path) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read_program(path)
    assert caught.value.remedy
    return caught.value


def test_a_program_is_read_as_utf8_without_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfprint('\xc3\xa4')\r\n")
    assert read_program(tmp_path / "a.py") == "print('ä')\r\n"


def test_a_missing_program(tmp_path: Path) -> None:
    assert _program_error(tmp_path / "not there.py").code == "program.not_found"
    assert _program_error(tmp_path / "a\0b").code == "program.not_found"


def test_a_folder_instead_of_a_program(tmp_path: Path) -> None:
    error = _program_error(tmp_path)
    assert error.code == "program.is_a_folder"
    assert "--work" in error.remedy


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert _program_error(tmp_path / "a" / "b.py").code == "program.is_a_folder"


def test_a_binary_file_as_program() -> None:
    assert _program_error(Path(sys.executable)).code in {
        "program.binary",
        "request.source_too_large",
    }


def test_a_small_binary_file_as_program(tmp_path: Path) -> None:
    (tmp_path / "a.pyc").write_bytes(b"\xa7\r\r\n\0\0\0\0")
    assert _program_error(tmp_path / "a.pyc").code == "program.binary"


def test_a_program_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"a = 1\nb = '\xe4'\n")
    error = _program_error(tmp_path / "a.py")
    assert error.code == "program.not_utf8"
    assert "line 2" in error.message


def test_a_device_is_not_a_program() -> None:
    if os.name != "posix":
        pytest.skip("only on POSIX: devices are files")
    assert _program_error(Path("/dev/zero")).code == "program.not_a_file"


def test_a_program_that_may_not_be_read(tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("only on POSIX: permission bits")
    program = tmp_path / "a.py"
    program.write_text("print(1)")
    program.chmod(0)
    printed = run_as_ordinary_user(
        tmp_path,
        "from pathlib import Path\n"
        "from nova_desktop.execute.validate import read_program\n"
        "from nova_desktop.model import NovaError\n",
        "try:\n"
        f"    read_program(Path({str(program)!r}))\n"
        "except NovaError as error:\n"
        "    print(error.code)\n",
    )
    assert printed == "program.unreadable\n"
