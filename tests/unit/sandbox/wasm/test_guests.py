from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
import zstandard

from nova_desktop.model import InvalidRequest, Language, RuntimeUnavailable
from nova_desktop.sandbox.wasm.guests import Guests
from tests.unit.sandbox.wasm.wat import write_dist

WASM = b"\0asm\x01\0\0\0"
TZIF = b"TZif2" + bytes(40)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("tzdata/zoneinfo/Europe/Berlin", TZIF)
        file.writestr("tzdata/zoneinfo/tzdata.zi", b"no zone")
        file.writestr("six.pyc", b"code")
    return write_dist(tmp_path, WASM, {"python-packages.zip": archive.getvalue()})


def test_guest_is_unpacked_and_verified(dist: Path) -> None:
    guests = Guests(dist)
    assert guests.languages() == [Language.PYTHON]
    assert guests.wasm(Language.PYTHON) == WASM
    assert guests.sha256(Language.PYTHON) == hashlib.sha256(WASM).hexdigest()


def test_read_only_files_are_shared_between_runs(dist: Path) -> None:
    guests = Guests(dist)
    first, second = (guests.read_only_files(Language.PYTHON) for _ in range(2))
    assert list(first) == ["/usr/lib/python3-packages.zip"]
    assert first["/usr/lib/python3-packages.zip"] is second["/usr/lib/python3-packages.zip"]
    assert guests.read_only_files(Language.JAVASCRIPT) == {}


def test_nothing_is_unpacked_before_it_is_needed(dist: Path) -> None:
    for path in dist.glob("*.zst"):
        path.unlink()
    assert Guests(dist).sha256(Language.PYTHON) == hashlib.sha256(WASM).hexdigest()


def test_time_zone_comes_from_the_guests_own_database(dist: Path) -> None:
    guests = Guests(dist)
    assert guests.time_zone("Europe/Berlin") == TZIF
    assert guests.time_zone("UTC") == b""


@pytest.mark.parametrize(
    "name", ["Europe/Nowhere", "", "tzdata.zi", "../../six.pyc", "/etc/localtime", "Europe", "a\0b"]
)
def test_unknown_time_zone_is_an_invalid_request(dist: Path, name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Guests(dist).time_zone(name)
    assert refused.value.code == "request.unknown_timezone"


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def swap(path: Path) -> None:
    path.write_bytes(zstandard.compress(b"\0asm\x02\0\0\0"))


def bomb(path: Path) -> None:
    path.write_bytes(zstandard.compress(bytes(50_000_000)))


@pytest.mark.security
@pytest.mark.parametrize("change", [damage, swap, bomb, Path.unlink])
def test_changed_or_missing_artefact_is_refused(dist: Path, change) -> None:  # type: ignore[no-untyped-def]
    change(dist / "python.wasm.zst")
    with pytest.raises(RuntimeUnavailable) as refused:
        Guests(dist).wasm(Language.PYTHON)
    assert refused.value.code == "runtime.guest_damaged"
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        (None, "runtime.guest_damaged"),
        ("{", "runtime.guest_damaged"),
        ("[]", "runtime.guest_format"),
        ('{"format": 2}', "runtime.guest_format"),
        ('{"format": 1}', "runtime.guest_format"),
        ('{"format": 1, "artefacts": {"python.wasm": {}}}', "runtime.guest_format"),
    ],
)
def test_unusable_manifest_is_a_clear_error(dist: Path, manifest: str | None, code: str) -> None:
    path = dist / "manifest.json"
    if manifest is None:
        path.unlink()
    else:
        path.write_text(manifest)
    with pytest.raises(RuntimeUnavailable) as refused:
        Guests(dist)
    assert refused.value.code == code


def test_language_without_a_guest_is_unavailable(dist: Path) -> None:
    guests = Guests(dist)
    for language in (Language.JAVASCRIPT, Language.BASH):
        with pytest.raises(RuntimeUnavailable):
            guests.sha256(language)


def test_manifest_tells_more_than_we_read(dist: Path) -> None:
    manifest = json.loads((dist / "manifest.json").read_text())
    (dist / "manifest.json").write_text(json.dumps({**manifest, "python": "3.13.5"}))
    assert Guests(dist).manifest["python"] == "3.13.5"
