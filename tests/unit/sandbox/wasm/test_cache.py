"""A compiled guest is machine code: what is not surely ours is not loaded."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nova_desktop.sandbox.wasm import cache as cache_module
from nova_desktop.sandbox.wasm.cache import CompiledCache

WASM = "ab" * 32
CODE = os.urandom(100_000)

posix = pytest.mark.skipif(os.name != "posix", reason="only on POSIX systems")


@pytest.fixture
def cache(tmp_path: Path) -> CompiledCache:
    cache = CompiledCache(tmp_path / "compiled")
    cache.write("python", WASM, CODE)
    assert cache.problem == ""
    return cache


def only_file(cache: CompiledCache) -> Path:
    (path,) = cache.folder.iterdir()
    return path


def test_what_was_written_is_read_back(cache: CompiledCache) -> None:
    assert cache.read("python", WASM) == CODE
    assert cache.problem == ""


def test_missing_folder_or_file_is_no_problem(tmp_path: Path, cache: CompiledCache) -> None:
    assert CompiledCache(tmp_path / "none").read("python", WASM) is None
    assert cache.read("javascript", WASM) is None
    assert cache.problem == ""


@posix
def test_folder_and_file_are_for_the_user_alone(cache: CompiledCache) -> None:
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(cache).stat().st_mode) == 0o600


def test_another_guest_is_not_taken(cache: CompiledCache) -> None:
    assert cache.read("python", "cd" * 32) is None


@pytest.mark.parametrize("name", ["WASMTIME_VERSION", "CONFIGURATION"])
def test_another_engine_or_configuration_is_not_taken(
    cache: CompiledCache, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, name, "other")
    assert cache.read("python", WASM) is None


def test_another_processor_is_not_taken(
    cache: CompiledCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_processor", lambda: "other")
    assert cache.read("python", WASM) is None


@pytest.mark.security
@pytest.mark.parametrize("length", [0, 10, 88, 1000, 100_000])
def test_truncated_file_is_not_taken(cache: CompiledCache, length: int) -> None:
    path = only_file(cache)
    path.write_bytes(path.read_bytes()[:length])
    assert cache.read("python", WASM) is None
    assert "cut short" in cache.problem


@pytest.mark.security
@pytest.mark.parametrize("position", [0, 16, 48, 80, 95, 96, 60_000, -1])
def test_one_changed_byte_anywhere_is_noticed(cache: CompiledCache, position: int) -> None:
    path = only_file(cache)
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    assert cache.read("python", WASM) is None
    assert cache.problem != ""


@pytest.mark.security
def test_file_renamed_to_another_guests_name_is_not_taken(cache: CompiledCache) -> None:
    cache.write("javascript", "cd" * 32, b"javascript code")
    javascript = next(cache.folder.glob("javascript-*"))
    python = next(cache.folder.glob("python-*"))
    javascript.replace(python)
    assert cache.read("python", WASM) is None
    assert "something else" in cache.problem


@posix
@pytest.mark.security
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
def test_folder_that_others_may_write_is_not_used(cache: CompiledCache, mode: int) -> None:
    cache.folder.chmod(mode)
    assert cache.read("python", WASM) is None
    assert "others may write" in cache.problem
    cache.write("python", WASM, b"new")
    assert "could not be kept" in cache.problem
    cache.folder.chmod(0o700)
    assert cache.read("python", WASM) == CODE


@posix
@pytest.mark.security
def test_file_that_others_may_write_is_not_taken(cache: CompiledCache) -> None:
    only_file(cache).chmod(0o666)
    assert cache.read("python", WASM) is None
    assert "others may write" in cache.problem


@posix
@pytest.mark.security
def test_what_belongs_to_somebody_else_is_not_taken(
    cache: CompiledCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen from another user; root can also really give the file away."""
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert cache.read("python", WASM) is None
    assert "another user" in cache.problem
    monkeypatch.undo()
    if me == 0:
        os.chown(only_file(cache), 65534, 65534)
        assert cache.read("python", WASM) is None
        assert "another user" in cache.problem


@posix
@pytest.mark.security
def test_linked_folder_is_not_followed(cache: CompiledCache, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(cache.folder)
    linked = CompiledCache(link)
    assert linked.read("python", WASM) is None
    linked.write("python", WASM, b"new")
    assert linked.problem != ""
    assert cache.read("python", WASM) == CODE


@posix
@pytest.mark.security
def test_linked_file_is_not_followed(cache: CompiledCache, tmp_path: Path) -> None:
    path = only_file(cache)
    path.replace(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.read("python", WASM) is None
    assert cache.problem != ""


@posix
@pytest.mark.security
def test_file_with_a_second_name_is_not_taken(cache: CompiledCache, tmp_path: Path) -> None:
    os.link(only_file(cache), tmp_path / "second")
    assert cache.read("python", WASM) is None
    assert "second name" in cache.problem


@posix
@pytest.mark.security
def test_pipe_in_the_files_place_does_not_block(cache: CompiledCache) -> None:
    path = only_file(cache)
    path.unlink()
    os.mkfifo(path)
    assert cache.read("python", WASM) is None
    assert "plain file" in cache.problem


def test_writing_replaces_what_was_damaged(cache: CompiledCache) -> None:
    only_file(cache).write_bytes(b"damaged")
    cache.write("python", WASM, b"new")
    assert cache.read("python", WASM) == b"new"


def test_predecessors_and_old_leftovers_are_removed_and_nothing_else(
    cache: CompiledCache,
) -> None:
    keep = ["javascript-0.cwasm", "python-notes.txt", ".new-fresh", "python3-x.cwasm"]
    drop = ["python-0123.cwasm", ".new-old"]
    for name in keep + drop:
        (cache.folder / name).write_bytes(b"")
    os.utime(cache.folder / ".new-old", (time.time() - 7200,) * 2)
    cache.write("python", "cd" * 32, CODE)
    names = {path.name for path in cache.folder.iterdir()}
    assert names >= set(keep)
    assert not names & set(drop)
    assert len([n for n in names if n.startswith("python-") and n.endswith(".cwasm")]) == 1


def test_folder_that_cannot_be_made_is_reported_not_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = CompiledCache(tmp_path / "file" / "compiled")
    cache.write("python", WASM, CODE)
    assert "could not be kept" in cache.problem
    assert cache.read("python", WASM) is None


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", no_space)
    monkeypatch.setattr(Path, "replace", no_space)
    yield
    monkeypatch.undo()


def test_full_disk_leaves_the_old_file_and_no_leftover(
    cache: CompiledCache, full_disk: None
) -> None:
    cache.write("python", "cd" * 32, b"new")
    assert "No space left" in cache.problem
    assert cache.read("python", WASM) == CODE
    assert len(list(cache.folder.iterdir())) == 1
