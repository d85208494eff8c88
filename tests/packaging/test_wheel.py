"""The package as a stranger installs it: from a wheel, into an environment of its own.

With the network, by ``pip install`` of the checkout, from another folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.structure.repository import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DIST = ROOT / "runtime" / "nova-wasm" / "dist"
GUESTS = "nova_desktop/sandbox/wasm/dist"


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and the wheel made from *that* and not the checkout."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, folder=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=unpacked)
    return folder


def wheel_of(folder: Path) -> zipfile.ZipFile:
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


def test_the_guests_travel_in_the_wheel(built: Path) -> None:
    with wheel_of(built) as wheel:
        carried = {n for n in wheel.namelist() if n.startswith(GUESTS + "/")}
        assert carried == {f"{GUESTS}/{path.name}" for path in DIST.iterdir()}
        manifest = json.loads(wheel.read(f"{GUESTS}/manifest.json"))
        for artefact in manifest["artefacts"].values():
            name = f"{GUESTS}/{artefact['file']}"
            assert wheel.read(name) == (DIST / artefact["file"]).read_bytes()


def test_the_wheel_carries_licences_and_nothing_of_the_tests(built: Path) -> None:
    with wheel_of(built) as wheel:
        names = wheel.namelist()
    assert {name.rpartition("/")[2] for name in names} >= {"LICENSE", "NOTICE", "py.typed"}
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "nova_desktop",
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``bin`` of a fresh environment into which ``pip install CHECKOUT`` was run."""
    folder = tmp_path_factory.mktemp("somewhere else")
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    pip = folder / "venv" / "bin" / "pip"
    run(pip, "install", "--quiet", ROOT, folder=folder)
    return pip.parent


def test_an_installed_nova_runs_a_program_over_a_folder(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("seven")
    program = tmp_path / "program.py"
    program.write_text("open('out.txt', 'w').write(open('in.txt').read().upper()); print(1 + 1)")
    answer = json.loads(
        run(
            installed / "nova", "run", program, "--work", tmp_path, "--write", "yes", "--json",
            folder=tmp_path,
        )
    )  # fmt: skip
    assert answer["status"] == "finished", answer
    assert answer["stdout"] == "2\n"
    assert answer["written"] == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "SEVEN"


def test_it_runs_from_its_own_files(installed: Path, tmp_path: Path) -> None:
    """The proof that the test before did not use the checkout."""
    ask = "import nova_desktop; print(nova_desktop.__file__)"
    place = Path(run(installed / "python", "-c", ask, folder=tmp_path).strip())
    assert installed.parent in place.parents
    assert ROOT not in place.parents


def test_javascript_and_the_doctor_work_when_installed(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.js"
    program.write_text("console.log([3, 1, 2].toSorted().join())")
    assert run(installed / "nova", "run", program, folder=tmp_path).startswith("1,2,3\n")
    assert "wasm" in run(installed / "nova", "doctor", folder=tmp_path)
