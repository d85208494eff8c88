"""The parts are built once, on first use, from one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from nova_desktop.engine.assemble import Parts
from nova_desktop.model import Refused, RuntimeName
from nova_desktop.sandbox.unconfined import LocalRuntime
from nova_desktop.sandbox.wasm import WasmRuntime


def test_each_runtime_is_built_once(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    assert parts.runtime(RuntimeName.LOCAL) is parts.runtime(RuntimeName.LOCAL)
    assert isinstance(parts.runtime(RuntimeName.LOCAL), LocalRuntime)
    assert isinstance(parts.runtime(RuntimeName.WASM), WasmRuntime)
    parts.close()


def test_the_cache_folder_is_made_private_when_it_is_needed(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    assert not parts.paths.cache.exists()
    parts.runtime(RuntimeName.WASM)
    assert parts.paths.cache.stat().st_mode & 0o777 == 0o700
    parts.close()


@pytest.mark.security
def test_a_cache_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.paths.cache.mkdir(parents=True)
    parts.paths.cache.chmod(0o777)
    with pytest.raises(Refused) as caught:
        parts.runtime(RuntimeName.WASM)
    assert caught.value.code == "settings.folder_not_private"


def test_closing_closes_what_was_built(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    first = parts.runtime(RuntimeName.LOCAL)
    parts.close()
    assert parts.runtime(RuntimeName.LOCAL) is not first
