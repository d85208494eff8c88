"""What the doctor finds: each way in which a runtime can be absent, with reason and remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nova_desktop.engine import health
from nova_desktop.engine.health import Health, check_health, library_pack
from nova_desktop.model import (
    ErrorInfo,
    ExecutionRequest,
    ExecutionResult,
    InvalidRequest,
    Language,
    RuntimeName,
    RuntimeUnavailable,
    Status,
)
from nova_desktop.settings import Paths

Execute = Callable[[ExecutionRequest], ExecutionResult]

MANIFEST = {
    "python": "3.13.5",
    "quickjs": "2025-04-26",
    "packages": [{"name": "jinja2", "version": "3", "licence": "BSD", "summary": "templates"}],
}


def works(request: ExecutionRequest) -> ExecutionResult:
    return ExecutionResult(status=Status.FINISHED, exit_code=0, stdout="42\n")


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "guests"
    folder.mkdir()
    (folder / "python.wasm.zst").write_bytes(bytes(1000))
    found = SimpleNamespace(folder=folder, manifest=MANIFEST)
    monkeypatch.setattr(health, "Guests", lambda: found)
    return folder


def examine(
    tmp_path: Path,
    execute: Execute = works,
    *,
    environment: dict[str, str] | None = None,
    cache_problem: str = "",
) -> Health:
    parts: Any = SimpleNamespace(
        paths=Paths(data=tmp_path / "data", cache=tmp_path / "cache"),
        environment=environment or {},
        execution=SimpleNamespace(execute=lambda request, on_progress: execute(request)),
        runtime=lambda name: SimpleNamespace(cache_problem=cache_problem),
    )
    return check_health(parts)


def state(found: Health, name: RuntimeName) -> health.RuntimeHealth:
    return next(runtime for runtime in found.runtimes if runtime.name is name)


@pytest.mark.usefixtures("guests")
def test_a_runtime_that_runs_one_line_of_each_language_is_available(tmp_path: Path) -> None:
    seen: list[Language] = []

    def execute(request: ExecutionRequest) -> ExecutionResult:
        seen.append(request.language)
        return works(request)

    found = examine(tmp_path, execute)
    assert found.well
    assert state(found, RuntimeName.WASM).languages == ("python", "javascript")
    assert seen == [Language.PYTHON, Language.JAVASCRIPT]


@pytest.mark.usefixtures("guests")
def test_a_language_that_does_not_start_is_named_with_its_remedy(tmp_path: Path) -> None:
    def execute(request: ExecutionRequest) -> ExecutionResult:
        if request.language is Language.JAVASCRIPT:
            raise RuntimeUnavailable("runtime.guest_missing", "No guest.", "Reinstall.")
        return works(request)

    found = examine(tmp_path, execute)
    wasm = state(found, RuntimeName.WASM)
    assert not found.well
    assert not wasm.available
    assert (wasm.reason, wasm.remedy) == ("javascript: No guest.", "Reinstall.")


@pytest.mark.parametrize(
    "wrong",
    [
        ExecutionResult(status=Status.FINISHED, exit_code=0, stdout="41\n"),
        ExecutionResult(status=Status.ENGINE_ERROR, exit_code=None),
        ExecutionResult(
            status=Status.ENGINE_ERROR, exit_code=None, error=ErrorInfo("a.b", "It broke.")
        ),
    ],
)
@pytest.mark.usefixtures("guests")
def test_a_wrong_answer_is_not_available(tmp_path: Path, wrong: ExecutionResult) -> None:
    wasm = state(examine(tmp_path, lambda request: wrong), RuntimeName.WASM)
    assert not wasm.available
    assert wasm.reason.startswith("python: ")


def test_without_guests_the_rest_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> None:
        raise RuntimeUnavailable("runtime.guest_missing", "Not installed.")

    monkeypatch.setattr(health, "Guests", nowhere)
    found = examine(tmp_path)
    assert found.versions["guest python"] == "not found"
    assert set(found.paths) == {"data", "cache"}
    assert found.packages == ()


@pytest.mark.usefixtures("guests")
def test_a_cache_that_cannot_be_used_is_told_though_all_works(tmp_path: Path) -> None:
    wasm = state(examine(tmp_path, cache_problem="The folder is shared."), RuntimeName.WASM)
    assert wasm.available
    assert wasm.reason == "The folder is shared."


@pytest.mark.usefixtures("guests")
def test_what_is_not_built_says_so(tmp_path: Path) -> None:
    found = examine(tmp_path)
    for name in (RuntimeName.NOVA, RuntimeName.DOCKER):
        assert not state(found, name).available
        assert state(found, name).reason
        assert state(found, name).remedy


@pytest.mark.security
@pytest.mark.usefixtures("guests")
def test_the_unconfined_runtime_is_off_and_never_called_sandboxed(tmp_path: Path) -> None:
    off = state(examine(tmp_path), RuntimeName.LOCAL)
    on = state(examine(tmp_path, environment={"NOVA_SANDBOX_ALLOW_LOCAL": "1"}), RuntimeName.LOCAL)
    assert (off.available, on.available) == (False, True)
    assert not off.sandboxed
    assert not on.sandboxed
    assert "without any protection" in on.reason


@pytest.mark.usefixtures("guests")
def test_a_misspelt_setting_is_an_error_here_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest):
        examine(tmp_path, environment={"NOVA_SANDBOX_ALLOW_LOCAL": "yes"})


def test_room_is_counted_without_following_links(tmp_path: Path, guests: Path) -> None:
    cache = tmp_path / "cache" / "deep"
    cache.mkdir(parents=True)
    (cache / "a").write_bytes(bytes(300))
    (cache / "link").symlink_to(guests)
    found = examine(tmp_path)
    assert found.disk_bytes["guests"] == 1000
    assert 300 <= found.disk_bytes["cache"] < 600
    assert found.disk_bytes["data"] == 0


@pytest.mark.usefixtures("guests")
def test_it_is_plain_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(examine(tmp_path).to_json()))
    assert document["well"] is True
    assert document["packages"][0]["name"] == "jinja2"
    assert document["runtimes"][0]["name"] == "wasm"


def test_a_manifest_without_packages_has_none() -> None:
    assert library_pack({}) == ()
