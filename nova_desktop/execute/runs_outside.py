"""Files that other programs run or obey later: outside Nova, with all of the owner's rights.

Writing one of these is how a confined program would get out: a hook in ``.git``, a task in
``.vscode``, a line in ``.bashrc``. They are marked in the change plan and written only when the
owner names them one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from nova_desktop.hostfs import collision_key

_FOLDERS = {
    ".git": "git runs its hooks and obeys its configuration",
    ".hg": "Mercurial runs its hooks",
    ".svn": "Subversion obeys it",
    ".husky": "git runs these hooks",
    ".vscode": "the editor runs its tasks",
    ".idea": "the editor runs its tasks",
    ".devcontainer": "the editor starts what it names",
    ".github": "the build service runs its workflows",
    ".gitlab": "the build service runs its pipelines",
    ".circleci": "the build service runs its jobs",
    ".cargo": "cargo obeys it",
    ".claude": "an AI assistant obeys it",
    ".cursor": "an AI assistant obeys it",
    ".ssh": "ssh obeys it",
    ".gnupg": "GnuPG obeys it",
    "autostart": "the desktop starts what lies there",
    "systemd": "the system starts what lies there",
    "launchagents": "the system starts what lies there",
    "startup": "the desktop starts what lies there",
    ".bzr": "Bazaar obeys it",
    ".jj": "Jujutsu obeys it",
    ".mvn": "maven obeys it",
    ".gemini": "an AI assistant obeys it",
    ".codex": "an AI assistant obeys it",
    ".windsurf": "an AI assistant obeys it",
    "__pycache__": "python runs it in the place of the source",
    "node_modules": "node runs its packages",
    "site-packages": "python runs its packages",
}

_OBEYED_INSIDE = frozenset(
    [".git", ".hg", ".svn", ".husky", ".vscode", ".devcontainer", ".github", ".gitlab", ".circleci"]
)
"""Folders that hold nothing else: what is written in them is marked also when the workspace is
one of them or lies in one."""

_SHELL = "a shell runs it at its start"
_TOOL = "a tool runs or obeys it"
_NAMES = {
    # shells and profiles
    ".bashrc": _SHELL,
    ".bash_profile": _SHELL,
    ".bash_login": _SHELL,
    ".bash_logout": _SHELL,
    ".bash_aliases": _SHELL,
    ".profile": _SHELL,
    ".zshrc": _SHELL,
    ".zshenv": _SHELL,
    ".zprofile": _SHELL,
    ".zlogin": _SHELL,
    ".zlogout": _SHELL,
    ".kshrc": _SHELL,
    ".cshrc": _SHELL,
    ".tcshrc": _SHELL,
    ".login": _SHELL,
    ".inputrc": _SHELL,
    "config.fish": _SHELL,
    "profile.ps1": _SHELL,
    ".envrc": "direnv runs it",
    ".xprofile": _SHELL,
    ".xinitrc": _SHELL,
    ".xsession": _SHELL,
    # git and editors
    "head": "git takes its folder for a repository and obeys the configuration in it",
    ".gitconfig": "git obeys it",
    ".gitmodules": "git obeys it",
    ".gitattributes": "git obeys it",
    ".editorconfig": "editors obey it",
    ".vimrc": "the editor runs it",
    ".exrc": "the editor runs it",
    ".nvimrc": "the editor runs it",
    ".nvim.lua": "the editor runs it",
    ".emacs": "the editor runs it",
    ".dir-locals.el": "the editor runs it",
    # AI assistants
    ".mcp.json": "an AI assistant starts what it names",
    "mcp.json": "an AI assistant starts what it names",
    "claude.md": "an AI assistant obeys it",
    "agents.md": "an AI assistant obeys it",
    "gemini.md": "an AI assistant obeys it",
    ".cursorrules": "an AI assistant obeys it",
    ".windsurfrules": "an AI assistant obeys it",
    # Python
    "pyvenv.cfg": "python obeys it",
    "conftest.py": "pytest runs it",
    "sitecustomize.py": "python runs it at its start",
    "usercustomize.py": "python runs it at its start",
    "setup.py": "pip runs it",
    "setup.cfg": _TOOL,
    "pyproject.toml": _TOOL,
    "tox.ini": _TOOL,
    "pytest.ini": "pytest loads what it names",
    "mypy.ini": "mypy loads what it names",
    ".pylintrc": "pylint runs it",
    "pylintrc": "pylint runs it",
    ".coveragerc": "coverage loads what it names",
    ".pdbrc": "the debugger runs it",
    ".gdbinit": "the debugger runs it",
    "noxfile.py": _TOOL,
    "pip.conf": "pip obeys it",
    ".pypirc": "pip obeys it",
    ".pre-commit-config.yaml": "git runs what it names",
    # JavaScript
    "package.json": "npm runs its scripts",
    ".npmrc": "npm obeys it",
    ".yarnrc": "yarn obeys it",
    ".yarnrc.yml": "yarn obeys it",
    ".pnpmfile.cjs": "pnpm runs it",
    # build and delivery
    "makefile": "make runs it",
    "gnumakefile": "make runs it",
    "justfile": "just runs it",
    "cmakelists.txt": "cmake runs it",
    "build.rs": "cargo runs it",
    "build.gradle": "gradle runs it",
    "build.gradle.kts": "gradle runs it",
    "settings.gradle": "gradle runs it",
    "settings.gradle.kts": "gradle runs it",
    "pom.xml": "maven obeys it",
    "gemfile": "bundler runs it",
    "containerfile": "podman runs it",
    "latexmkrc": "latexmk runs it",
    ".latexmkrc": "latexmk runs it",
    ".rprofile": "R runs it at its start",
    "mise.toml": "mise runs it",
    ".mise.toml": "mise runs it",
    "rakefile": "rake runs it",
    "dockerfile": "docker runs it",
    "docker-compose.yml": "docker runs it",
    "docker-compose.yaml": "docker runs it",
    "compose.yaml": "docker runs it",
    "compose.yml": "docker runs it",
    "vagrantfile": "vagrant runs it",
    "jenkinsfile": "the build service runs it",
    ".gitlab-ci.yml": "the build service runs it",
    ".travis.yml": "the build service runs it",
    "azure-pipelines.yml": "the build service runs it",
    "bitbucket-pipelines.yml": "the build service runs it",
    "crontab": "the system runs what it names",
    ".netrc": "network programs obey it",
    ".curlrc": "curl obeys it",
    ".wgetrc": "wget obeys it",
    # Windows
    "desktop.ini": "the Windows desktop obeys it",
    "autorun.inf": "Windows obeys it",
}

_WINDOWS = "Windows runs it when it is opened"
_NATIVE = "other programs load it as native code"
_SUFFIXES = {
    ".pth": "python runs it at its start",
    ".pyc": "python runs it in the place of the source",
    ".pyd": _NATIVE,
    ".cwasm": _NATIVE,
    ".so": _NATIVE,
    ".dylib": _NATIVE,
    ".code-workspace": "the editor runs its tasks",
    ".desktop": "the desktop starts what it names",
    ".service": "the system starts what it names",
    ".timer": "the system starts what it names",
    ".plist": "the system may start what it names",
    **dict.fromkeys(
        [
            ".lnk",
            ".url",
            ".scf",
            ".exe",
            ".com",
            ".dll",
            ".sys",
            ".cpl",
            ".scr",
            ".pif",
            ".bat",
            ".cmd",
            ".ps1",
            ".psm1",
            ".vbs",
            ".vbe",
            ".jse",
            ".wsf",
            ".wsh",
            ".hta",
            ".msi",
            ".msp",
            ".msc",
            ".reg",
            ".inf",
            ".jar",
            ".library-ms",
            ".settingcontent-ms",
        ],
        _WINDOWS,
    ),
}


def runs_outside(path: str, *, new_execute_bit: bool = False) -> str:
    """Why other programs run or obey ``path`` later; empty when nothing is known to.

    Letter case, composed or decomposed letters, trailing dots and spaces, and an alternate
    stream's suffix make no difference: some file system takes the name for the listed one.
    """
    if new_execute_bit:
        return "it became an executable program"
    if reason := _folder_reason(path):
        return reason
    for name in _same_names(path.rpartition("/")[2]):
        if name in _NAMES:
            return _NAMES[name]
        dot = name.rfind(".")
        if dot >= 0 and name[dot:] in _SUFFIXES:
            return _SUFFIXES[name[dot:]]
    return ""


def obeyed_place(folder: Iterable[str]) -> str:
    """Why other programs obey whatever lies in a workspace, given the parts of its path."""
    for part in folder:
        for same in _same_names(part):
            if same in _OBEYED_INSIDE:
                return _FOLDERS[same]
    return ""


# A guest may make 100,000 files at the end of a path of 60 long names: each folder is looked at
# once, not once for each file in it.
@functools.lru_cache(maxsize=128)
def _folder_reason(path: str) -> str:
    """Why other programs obey what is in this folder, or in one of those above it."""
    folder, _, name = path.rpartition("/")
    if folder and (reason := _folder_reason(folder)):
        return reason
    for same in _same_names(name):
        if same in _FOLDERS:
            return _FOLDERS[same]
        # A bare repository; or the short name of .git, which some file systems hold as well.
        if same.endswith(".git") or same == "git~1":
            return _FOLDERS[".git"]
    return ""


def _same_names(part: str) -> tuple[str, ...]:
    """The names that some file system takes ``part`` for."""
    whole = collision_key(part)
    # On Windows "x:y" is a stream of the file x; elsewhere it is a name like any other.
    return whole.rstrip(". "), whole.partition(":")[0].rstrip(". ")
