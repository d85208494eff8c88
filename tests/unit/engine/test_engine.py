"""Opening an engine costs nothing that is not used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import InvalidRequest, Language, Refused, RuntimeName, Workspace


def test_opening_creates_nothing(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "home") as engine:
        assert engine.paths.cache.is_relative_to(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_nova_home_is_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVA_HOME", str(tmp_path))
    with Engine.open() as engine:
        assert engine.paths.data.is_relative_to(tmp_path)


def test_opening_imports_nothing_heavy() -> None:
    heavy = {"wasmtime", "asyncio", "ssl", "urllib.request", "zstandard", "sqlite3", "subprocess"}
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from nova_desktop import Engine\n"
        "Engine.open(Path('/nonexistent')).close()\n"
        f"print(sorted({heavy!r} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_everything_can_be_imported_where_posix_calls_do_not_exist() -> None:
    code = (
        "import os, signal, subprocess, sys, tempfile\n"
        "for name in ('O_NOFOLLOW', 'O_DIRECTORY', 'O_CLOEXEC', 'O_NONBLOCK', 'O_NOCTTY',\n"
        "             'killpg', 'waitid', 'geteuid', 'getuid', 'fchown', 'listxattr', 'setsid'):\n"
        "    delattr(os, name)\n"
        "del signal.SIGKILL\n"
        "sys.modules['pwd'] = sys.modules['fcntl'] = None\n"
        "import nova_desktop.engine.assemble, nova_desktop.execute.apply\n"
        "import nova_desktop.execute.workspace, nova_desktop.sandbox.unconfined\n"
        "import nova_desktop.sandbox.wasm\n"
        "print('imported')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "imported\n", done.stderr


@pytest.mark.security
def test_the_engines_own_folders_are_never_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOVA_SANDBOX_ALLOW_LOCAL", "1")
    monkeypatch.setenv("NOVA_SANDBOX_RUNTIME", "local")
    with Engine.open(tmp_path) as engine:
        engine.paths.data.mkdir(parents=True)
        request = ExecutionRequest(
            language=Language.PYTHON, source="", workspace=Workspace(path=engine.paths.data)
        )
        with pytest.raises(Refused):
            engine.execute(request)


def test_a_run_through_the_engine_with_the_local_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOVA_SANDBOX_ALLOW_LOCAL", "1")
    work = tmp_path / "work"
    work.mkdir()
    request = ExecutionRequest(
        language=Language.PYTHON,
        source="open('a', 'w').write('1')",
        workspace=Workspace(path=work),
        runtime=RuntimeName.LOCAL,
    )
    with Engine.open(tmp_path / "home") as engine:
        result = engine.execute(request, approve=lambda plan: True, owner_typed_runtime=True)
        assert result.written == ("a",)
        assert not result.sandboxed
        with pytest.raises(Refused):
            engine.execute(request)  # no other caller reaches it


def test_a_bad_request_is_an_error_of_ours(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine, pytest.raises(InvalidRequest):
        engine.execute(ExecutionRequest(language=Language.PYTHON))
