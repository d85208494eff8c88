"""Settings in environment variables."""

from __future__ import annotations

import pytest

from nova_desktop.model import InvalidRequest, RuntimeName
from nova_desktop.settings import RuntimeSettings


def test_nothing_set_means_nothing_chosen() -> None:
    assert RuntimeSettings.from_environment({}) == RuntimeSettings(None, False)
    empty = {"NOVA_SANDBOX_RUNTIME": "", "NOVA_SANDBOX_ALLOW_LOCAL": ""}
    assert RuntimeSettings.from_environment(empty) == RuntimeSettings(None, False)


@pytest.mark.parametrize("name", RuntimeName)
def test_every_runtime_can_be_set(name: RuntimeName) -> None:
    found = RuntimeSettings.from_environment({"NOVA_SANDBOX_RUNTIME": str(name)})
    assert found.runtime is name


@pytest.mark.parametrize("value", ["wasmm", "WASM", " wasm", "none"])
def test_an_unknown_runtime_is_an_error_and_not_a_default(value: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        RuntimeSettings.from_environment({"NOVA_SANDBOX_RUNTIME": value})
    assert caught.value.code == "settings.unknown_runtime"
    assert "wasm" in caught.value.remedy


@pytest.mark.security
@pytest.mark.parametrize("value", ["yes", "true", "on", "11", " 1"])
def test_only_one_switches_the_unconfined_runtime_on(value: str) -> None:
    assert RuntimeSettings.from_environment({"NOVA_SANDBOX_ALLOW_LOCAL": "1"}).allow_local
    assert not RuntimeSettings.from_environment({"NOVA_SANDBOX_ALLOW_LOCAL": "0"}).allow_local
    with pytest.raises(InvalidRequest) as caught:
        RuntimeSettings.from_environment({"NOVA_SANDBOX_ALLOW_LOCAL": value})
    assert caught.value.code == "settings.bad_value"
