"""The artefacts in the repository are those of the recipe in the repository."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from recipe import manifest
from recipe.toolchain import GUEST_DIRECTORY, BuildError

LIMIT_BYTES = 15 << 20


def test_the_artefacts_were_built_from_this_recipe_and_are_unchanged() -> None:
    assert manifest.differences() == []


def test_a_changed_artefact_is_found(tmp_path: Path) -> None:
    """The control of the test above."""
    dist = shutil.copytree(manifest.DIST, tmp_path / "dist")
    with (dist / "javascript.wasm.zst").open("ab") as file:
        file.write(b"\0")
    assert "javascript.wasm is not the recorded one" in manifest.differences(dist)


def test_a_changed_recipe_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(
        GUEST_DIRECTORY, tmp_path / "guests", ignore=shutil.ignore_patterns("dist")
    )
    monkeypatch.setattr(manifest, "GUEST_DIRECTORY", copy)
    before = manifest.recipe_sha256()
    with (copy / "common" / "alloc.c").open("a") as file:
        file.write("\n")
    assert manifest.recipe_sha256() != before


def test_the_hash_of_the_recipe_does_not_depend_on_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = manifest.recipe_sha256()
    copy = shutil.copytree(
        GUEST_DIRECTORY, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("dist")
    )
    monkeypatch.setattr(manifest, "GUEST_DIRECTORY", copy)
    assert manifest.recipe_sha256() == before


def test_a_manifest_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / manifest.MANIFEST).write_text(json.dumps({"format": 99}))
    with pytest.raises(BuildError, match="not of format"):
        manifest.read(tmp_path)


def test_all_artefacts_together_fit_into_the_repository() -> None:
    assert sum(path.stat().st_size for path in manifest.DIST.iterdir()) <= LIMIT_BYTES
