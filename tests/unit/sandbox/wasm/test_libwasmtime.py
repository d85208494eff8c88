from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from wasmtime import _bindings, _ffi

from nova_desktop.model import RuntimeUnavailable
from nova_desktop.sandbox.wasm import libwasmtime

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def fresh_load() -> None:
    libwasmtime.load.cache_clear()


def test_library_is_the_one_of_the_installed_distribution() -> None:
    assert libwasmtime._library_path() == Path(_ffi.filename)
    assert libwasmtime.load() is libwasmtime.load()


def test_pinned_version_is_the_one_that_is_declared() -> None:
    declared = (ROOT / "pyproject.toml").read_text()
    assert f'"wasmtime=={libwasmtime.WASMTIME_VERSION}"' in declared
    assert importlib.metadata.version("wasmtime") == libwasmtime.WASMTIME_VERSION


def test_python_package_of_wasmtime_is_never_imported() -> None:
    program = """
import sys
from nova_desktop.sandbox.wasm.isolate import Isolate
Isolate().close()
assert "wasmtime" not in sys.modules
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)


@pytest.mark.parametrize("name", sorted(libwasmtime._PROTOTYPES))
def test_prototype_agrees_with_the_generated_bindings(name: str) -> None:
    """The distribution's own bindings are generated from the C header of the same version."""
    theirs = getattr(_bindings, f"_{name}", None)
    if theirs is None:
        pytest.fail(f"{name} is not in the generated bindings")
    result, *parameters = libwasmtime._PROTOTYPES[name]
    assert len(parameters) == len(theirs.argtypes)
    for ours, other in zip([result, *parameters], [theirs.restype, *theirs.argtypes], strict=True):
        assert _width(ours) == _width(other)


def _width(kind: object) -> int:
    return 0 if kind is None else ctypes.sizeof(kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (libwasmtime.Extern, "wasmtime_extern"),
        (libwasmtime.Instance, "wasmtime_instance"),
        (libwasmtime.ByteVec, "wasm_byte_vec_t"),
        (libwasmtime.Value, "wasmtime_val"),
    ],
)
def test_struct_has_the_size_of_the_generated_one(ours: type, theirs: str) -> None:
    assert _width(ours) == _width(getattr(_bindings, theirs))


def test_raw_value_and_trap_codes_are_those_of_the_header() -> None:
    assert _width(_bindings.wasmtime_val_raw) == libwasmtime.RAW_VALUE_BYTES
    codes = _bindings.wasmtime_trap_code_enum
    assert codes.WASMTIME_TRAP_CODE_STACK_OVERFLOW.value == libwasmtime.TRAP_STACK_OVERFLOW
    out_of_bounds = codes.WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS.value
    assert out_of_bounds == libwasmtime.TRAP_MEMORY_OUT_OF_BOUNDS


def test_missing_distribution_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeUnavailable) as refused:
        libwasmtime.load()
    assert refused.value.code == "runtime.wasmtime_missing"
    assert libwasmtime.WASMTIME_VERSION in refused.value.remedy


def _installed_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    spec = importlib.machinery.ModuleSpec("wasmtime", None)
    spec.submodule_search_locations = [str(folder / "wasmtime")]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    return folder


@pytest.mark.security
def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _installed_at(tmp_path, monkeypatch)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "51.0.0")
    with pytest.raises(RuntimeUnavailable) as refused:
        libwasmtime.load()
    assert refused.value.code == "runtime.wasmtime_version"
    assert "51.0.0" in refused.value.message


def test_library_that_cannot_be_loaded_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed_at(tmp_path, monkeypatch)
    (tmp_path / f"wasmtime-{libwasmtime.WASMTIME_VERSION}.dist-info").mkdir()
    with pytest.raises(RuntimeUnavailable) as refused:
        libwasmtime.load()
    assert refused.value.code == "runtime.wasmtime_broken"


def test_system_without_a_build_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libwasmtime, "machine_name", lambda: "riscv64")
    with pytest.raises(RuntimeUnavailable) as refused:
        libwasmtime.load()
    assert refused.value.code == "runtime.unsupported_system"


@pytest.mark.parametrize(
    ("system", "machine", "tail"),
    [
        ("win32", "AMD64", "win32-x86_64/_wasmtime.dll"),
        ("darwin", "arm64", "darwin-aarch64/_libwasmtime.dylib"),
        ("linux", "aarch64", "linux-aarch64/_libwasmtime.so"),
    ],
)
def test_name_of_the_library_on_other_systems(
    system: str, machine: str, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(libwasmtime, "machine_name", lambda: machine)
    assert libwasmtime._library_path().as_posix().endswith(tail)
