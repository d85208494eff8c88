from __future__ import annotations

import dataclasses
import json

import pytest

from nova_desktop.model import (
    MIB,
    ChangeKind,
    Denied,
    ErrorInfo,
    ExecutionRequest,
    ExecutionResult,
    FileChange,
    Language,
    Limits,
    PathNote,
    Status,
)


def test_limits_can_only_be_narrowed() -> None:
    owner = Limits(timeout_s=10, memory_bytes=100 * MIB, clock_resolution_ns=1_000_000)
    asked = Limits(timeout_s=60, memory_bytes=50 * MIB, output_bytes=7, clock_resolution_ns=1)
    narrowed = asked.narrowed_by(owner)
    assert narrowed == owner.narrowed_by(asked)
    assert narrowed == Limits(
        timeout_s=10, memory_bytes=50 * MIB, output_bytes=7, clock_resolution_ns=1_000_000
    )


def test_narrowing_knows_every_limit() -> None:
    """A field that ``narrowed_by`` forgot would silently be the default."""
    smallest = Limits(
        timeout_s=1, memory_bytes=1, output_bytes=1, output_total_bytes=1, clock_resolution_ns=10**9
    )
    assert {field.name for field in dataclasses.fields(Limits)} == {
        field.name
        for field in dataclasses.fields(Limits)
        if getattr(Limits(), field.name) != getattr(smallest, field.name)
    }
    assert Limits().narrowed_by(smallest) == smallest


def test_a_request_cannot_be_changed_after_it_was_made() -> None:
    request = ExecutionRequest(language=Language.PYTHON, source="")
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.runtime = None  # type: ignore[misc]


def test_a_result_is_json_with_every_field() -> None:
    result = ExecutionResult(
        status=Status.FAILED,
        exit_code=1,
        stdout="\N{SNOWMAN}\ufffd",
        files=(FileChange(path="a", kind=ChangeKind.CREATED, size=1, sha256="00"),),
        left_out=(PathNote("l", "a link", "staging.link"),),
        denied=(Denied("path_symlink", "x", "wasi.links", 3),),
        error=ErrorInfo("guest.exception", "It failed."),
        duration_ms=1.23456,
    )
    shape = json.loads(json.dumps(result.to_json()))
    # Contents of files stay values: a document is no place for them.
    fields = {field.name for field in dataclasses.fields(ExecutionResult)} - {"contents"}
    assert set(shape) == fields
    assert set(shape["files"][0]) == {field.name for field in dataclasses.fields(FileChange)}
    assert shape["status"] == "failed"
    assert shape["denied"] == [
        {"operation": "path_symlink", "target": "x", "rule": "wasi.links", "count": 3}
    ]
    assert shape["duration_ms"] == 1.235
    assert shape["value"] is None


def test_a_result_without_an_error_says_null() -> None:
    assert ExecutionResult(status=Status.FINISHED, exit_code=0).to_json()["error"] is None
