"""Which runtime runs a request."""

from __future__ import annotations

import pytest

from nova_desktop.execute.choose import choose_runtime
from nova_desktop.model import (
    ExecutionRequest,
    InvalidRequest,
    Language,
    NovaError,
    Refused,
    RuntimeName,
    RuntimeUnavailable,
)
from nova_desktop.settings import RuntimeSettings

NOTHING_SET = RuntimeSettings()


def _choose(
    runtime: RuntimeName | None = None,
    settings: RuntimeSettings = NOTHING_SET,
    *,
    language: Language = Language.PYTHON,
    typed: bool = False,
) -> RuntimeName:
    request = ExecutionRequest(language=language, source="", runtime=runtime)
    return choose_runtime(request, settings, owner_typed_runtime=typed)


def test_wasm_is_the_default() -> None:
    assert _choose() is RuntimeName.WASM
    assert _choose(RuntimeName.AUTO) is RuntimeName.WASM


def test_the_request_wins_over_the_environment() -> None:
    docker = RuntimeSettings(runtime=RuntimeName.DOCKER)
    assert _choose(RuntimeName.WASM, docker) is RuntimeName.WASM
    with pytest.raises(RuntimeUnavailable):
        _choose(None, docker)


@pytest.mark.parametrize("name", [RuntimeName.DOCKER, RuntimeName.NOVA])
def test_a_runtime_that_is_not_built_is_unavailable_and_nothing_stands_in(
    name: RuntimeName,
) -> None:
    with pytest.raises(RuntimeUnavailable) as caught:
        _choose(name)
    assert caught.value.code == "runtime.not_built"
    assert caught.value.remedy


@pytest.mark.parametrize("runtime", [None, RuntimeName.WASM, RuntimeName.AUTO])
def test_bash_is_an_error_and_never_picks_a_weaker_runtime(runtime: RuntimeName | None) -> None:
    both_keys = RuntimeSettings(allow_local=True)
    with pytest.raises(InvalidRequest) as caught:
        _choose(runtime, both_keys, language=Language.BASH, typed=True)
    assert caught.value.code == "request.language_not_in_runtime"
    assert "Python" in caught.value.remedy


@pytest.mark.security
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("in_environment", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_the_unconfined_runtime_needs_the_first_key(
    typed: bool, in_environment: bool, named: bool
) -> None:
    runtime = RuntimeName.LOCAL if named else None
    settings = RuntimeSettings(RuntimeName.LOCAL if in_environment else None, allow_local=False)
    if not named and not in_environment:
        assert _choose(runtime, settings, typed=typed) is RuntimeName.WASM
        return
    with pytest.raises(Refused) as caught:
        _choose(runtime, settings, typed=typed)
    assert caught.value.code == "runtime.local_not_allowed"


@pytest.mark.security
def test_the_unconfined_runtime_needs_the_owners_own_word_as_second_key() -> None:
    allowed = RuntimeSettings(allow_local=True)
    with pytest.raises(Refused) as caught:
        _choose(RuntimeName.LOCAL, allowed)
    assert caught.value.code == "runtime.local_not_chosen_by_owner"
    # Controls: both ways of turning the second key.
    assert _choose(RuntimeName.LOCAL, allowed, typed=True) is RuntimeName.LOCAL
    by_environment = RuntimeSettings(RuntimeName.LOCAL, allow_local=True)
    assert _choose(None, by_environment) is RuntimeName.LOCAL


@pytest.mark.security
def test_auto_never_means_unconfined() -> None:
    settings = RuntimeSettings(RuntimeName.LOCAL, allow_local=True)
    assert _choose(RuntimeName.AUTO, settings, typed=True) is RuntimeName.WASM


@pytest.mark.parametrize("language", Language)
def test_the_unconfined_runtime_runs_every_language(language: Language) -> None:
    settings = RuntimeSettings(RuntimeName.LOCAL, allow_local=True)
    assert _choose(None, settings, language=language) is RuntimeName.LOCAL


def test_every_refusal_has_a_remedy() -> None:
    for runtime in (RuntimeName.LOCAL, RuntimeName.DOCKER, RuntimeName.NOVA):
        with pytest.raises(NovaError) as caught:
            _choose(runtime)
        assert caught.value.remedy
