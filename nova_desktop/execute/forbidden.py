"""Folders that no program is ever given, however the owner's path leads to them.

Compared by device and inode, not by text: ``/proc/self/root``, a bind mount or a link are the
same folder under another name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

Identity = tuple[int, int]

_NEVER_IN_HOME = (
    # keys and passwords
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    "Library/Keychains",
    # browser and mail profiles: cookies and saved passwords
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/opera",
    ".config/vivaldi",
    "snap/firefox",
    "snap/chromium",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome",
    "Library/Safari",
)
_NEVER = ("/proc", "/sys", "/dev")


class ForbiddenFolders:
    """What may not be staged: some folders only as a whole, some with all that is in them."""

    def __init__(self, own_folders: Iterable[Path] = ()) -> None:
        self._own_folders = tuple(own_folders)

    # Looked up when first asked: a run without a workspace never asks, and 28 look-ups would
    # take as long as the run itself.
    @cached_property
    def _whole(self) -> frozenset[Identity]:
        return _identities([Path("/"), *_home_folders()])

    @cached_property
    def _trees(self) -> frozenset[Identity]:
        return _identities(
            [
                *(home / name for home in _home_folders() for name in _NEVER_IN_HOME),
                *map(Path, _NEVER),
                *self._own_folders,
            ]
        )

    def reason(self, resolved: Path) -> str:
        """Why the folder at this resolved path is not given; empty when it may be."""
        identity = _identity(resolved)
        if identity in self._whole:
            return "it is your whole home folder" if resolved.name else "it is the whole system"
        for folder in (resolved, *resolved.parents):
            if _identity(folder) in self._trees:
                return f"{folder} holds keys, private profiles or the system's own state"
        return ""

    def missing_below(self, resolved: Path) -> list[str]:
        """Paths below this folder where our own folders will be, and are not yet: a program that
        made them first would choose what we find there."""
        own = [folder.resolve() for folder in self._own_folders if not os.path.lexists(folder)]
        return [f.relative_to(resolved).as_posix() for f in own if f.is_relative_to(resolved)]

    def forbids_subfolder(self, identity: Identity) -> bool:
        """Whether a folder met while staging is one of these."""
        return identity in self._trees or identity in self._whole


def _home_folders() -> list[Path]:
    homes = set()
    # Neither HOME nor an account with a home: then there is none to protect.
    with contextlib.suppress(RuntimeError):
        homes.add(Path.home())
    if os.name == "posix":
        # HOME can be pointed elsewhere; the account's folder is the one with the keys.
        import pwd

        # An account without an entry (a container's) has no other home.
        with contextlib.suppress(KeyError):
            homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return sorted(home for home in homes if home.is_absolute())


def _identities(paths: Iterable[Path]) -> frozenset[Identity]:
    return frozenset(found for path in paths if (found := _identity(path)) is not None)


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
