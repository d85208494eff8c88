"""Keeps the tests away from the folders of the person who runs them.

``enter`` is called while ``tests/conftest.py`` is imported, before any test module is: from then
on ``NOVA_HOME``, the home folder and the XDG folders are inside one temporary folder, for this
process and for every program the tests start. ``test_isolation`` checks at the end that the real
ones are as they were.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLES = ("HOME", "USERPROFILE")
FOLDER_VARIABLES = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "run",
    "APPDATA": "roaming",
    "LOCALAPPDATA": "local",
    "NOVA_HOME": "nova",
}
OWNER_SETTINGS = ("NOVA_SANDBOX_RUNTIME", "NOVA_SANDBOX_ALLOW_LOCAL")
"""Settings of the person who runs the tests; they would change what the tests see."""

Snapshot = dict[str, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Isolation:
    folder: Path
    """Where the home folder of the tests is."""
    real: tuple[Path, ...]
    """Folders of ours that the person may have, outside the tests."""
    before: Snapshot


def enter(folder: str | None) -> Isolation:
    """Move this process into ``folder``; None makes a temporary one."""
    real = real_folders(os.environ, _account_home())
    base = Path(folder or tempfile.mkdtemp(prefix="nova-tests-")).resolve()
    before = snapshot(real)
    os.environ.update(inside(base))
    for name in OWNER_SETTINGS:
        os.environ.pop(name, None)
    for name in (*HOME_VARIABLES, *FOLDER_VARIABLES):
        Path(os.environ[name]).mkdir(mode=0o700, parents=True, exist_ok=True)
    return Isolation(base, real, before)


def inside(base: Path) -> dict[str, str]:
    """The variables that place every folder of a user under ``base``."""
    home = dict.fromkeys(HOME_VARIABLES, str(base / "home"))
    return home | {name: str(base / folder) for name, folder in FOLDER_VARIABLES.items()}


def real_folders(environment: Mapping[str, str], account_home: Path) -> tuple[Path, ...]:
    """Every place in which Nova would keep something for the real user."""
    homes = {account_home, *(Path(environment[n]) for n in HOME_VARIABLES if n in environment)}
    bases = {
        Path(environment[name])
        for name in FOLDER_VARIABLES
        if name != "NOVA_HOME" and environment.get(name)
    }
    for home in homes:
        bases |= {home / part for part in (".config", ".local/share", ".local/state", ".cache")}
        bases |= {home / "Library/Application Support", home / "Library/Caches"}
        bases |= {home / "AppData/Local", home / "AppData/Roaming"}
    folders = {base / "nova-desktop" for base in bases}
    if environment.get("NOVA_HOME"):
        folders.add(Path(environment["NOVA_HOME"]))
    return tuple(sorted(folders))


def snapshot(folders: Sequence[Path]) -> Snapshot:
    """Inode, size and time of change of everything there; a missing folder has no entry."""
    seen: Snapshot = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            try:
                state = path.lstat()
            except FileNotFoundError:
                continue
            seen[str(path)] = (state.st_ino, state.st_size, state.st_ctime_ns)
    return seen


def _account_home() -> Path:
    """The home folder that the system knows, whatever ``HOME`` says."""
    try:
        import pwd
    except ImportError:
        return Path.home()
    return Path(pwd.getpwuid(os.getuid()).pw_dir)
