"""Files that other programs run or obey later."""

from __future__ import annotations

import pytest

from nova_desktop.execute.runs_outside import runs_outside


@pytest.mark.security
@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/post-checkout",
        "sub/.git/config",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".devcontainer/devcontainer.json",
        ".github/workflows/ci.yml",
        ".bashrc",
        "home/.profile",
        ".zshenv",
        ".envrc",
        ".mcp.json",
        "project.code-workspace",
        "pyvenv.cfg",
        "x.pth",
        "tests/conftest.py",
        "sitecustomize.py",
        "Makefile",
        "package.json",
        ".npmrc",
        "Dockerfile",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        "run.bat",
        "a.lnk",
        "a.url",
        "setup.exe",
        "x.ps1",
        "desktop.ini",
        "autorun.inf",
        "nova.desktop",
        ".config/autostart/x.txt",
        ".config/systemd/user/a.service",
        "lib/site-packages/a/__init__.py",
        "node_modules/a/index.js",
        "CLAUDE.md",
        "data/HEAD",
        "mirror.git/config",
        "mirror.git/hooks/post-receive",
        "lib/__pycache__/x.cpython-313.pyc",
        "json.so",
        ".pdbrc",
        ".gdbinit",
        "pytest.ini",
        ".pylintrc",
        "build.gradle.kts",
    ],
)
def test_what_other_programs_obey_is_marked(path: str) -> None:
    assert runs_outside(path)


@pytest.mark.security
@pytest.mark.parametrize(
    "path",
    [
        ".GIT/hooks/x",
        ".git./hooks/x",
        ".git /hooks/x",
        ".git::$INDEX_ALLOCATION/hooks/x",
        ".BashRC",
        "MAKEFILE",
        "makefile.",
        "X.PTH",
        "x.pth ",
        "RUN.BAT",
        "run.bat...",
        "run.bat:stream",
        "stream:run.bat",
        "a:b.desktop",
        "GIT~1/hooks/x",
        "data/head",
        "Package.JSON",
    ],
)
def test_other_spellings_of_the_same_name_are_marked(path: str) -> None:
    assert runs_outside(path)


@pytest.mark.security
def test_a_new_execute_bit_is_marked() -> None:
    assert runs_outside("report.csv", new_execute_bit=True)


@pytest.mark.parametrize(
    "path",
    [
        "report.csv",
        "chart.svg",
        "notes/readme.md",
        "git/config.txt",
        "makefile.txt",
        "bashrc",
        "a.pthx",
        "exe",
        "main.py",
        "data.json",
        "package.json.csv",
    ],
)
def test_ordinary_files_are_not_marked(path: str) -> None:
    assert runs_outside(path) == ""
