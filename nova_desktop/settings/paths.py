"""Where our own files live: the owner's alone, on a local disk, or all under ``NOVA_HOME``."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nova_desktop.model import InvalidRequest, Refused

HOME_VARIABLE = "NOVA_HOME"


@dataclass(frozen=True, slots=True)
class Paths:
    """Our folders. Naming them creates nothing; ``private_folder`` does."""

    data: Path
    """What must not be lost: records, grants, settings' state."""
    cache: Path
    """What can be made again: compiled guests."""

    @classmethod
    def find(cls, home: Path | None, environment: Mapping[str, str]) -> Paths:
        """``home``, else ``NOVA_HOME``, else the platform's folders for this user.

        Raises:
            InvalidRequest: ``NOVA_HOME`` is not an absolute path.
        """
        if home is None and (value := environment.get(HOME_VARIABLE, "")):
            home = Path(value)
            if not home.is_absolute():
                raise InvalidRequest(
                    "settings.bad_value",
                    f"{HOME_VARIABLE} is set to {value!r}, which is not an absolute path.",
                    f"Set {HOME_VARIABLE} to the full path of a folder, or unset it.",
                    variable=HOME_VARIABLE,
                )
        if home is not None:
            home = home.absolute()
            return cls(data=home / "data", cache=home / "cache")
        # Imported here: most tests and all children name their home and need not pay for it.
        import platformdirs

        # The *local* data path: a roaming profile is copied between machines while databases
        # are open.
        data = platformdirs.user_data_path("nova-desktop", appauthor=False, roaming=False)
        cache = platformdirs.user_cache_path("nova-desktop", appauthor=False)
        return cls(data=data, cache=cache)


def private_folder(path: Path) -> Path:
    """Make ``path`` a folder of this user alone, and return it.

    What is loaded from there decides what runs (compiled guests) or is allowed (records), so
    a folder that somebody else owns or can write to is refused rather than repaired.

    Raises:
        Refused: the folder is somebody else's, writable by others, a link, or not a folder.
        InvalidRequest: it cannot be created.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.lstat()
    except FileExistsError:
        raise _not_private(path, "something that is not a folder is there") from None
    except OSError as error:
        raise InvalidRequest(
            "settings.folder_unusable",
            f"The folder {path} cannot be created: {error.strerror}.",
            f"Make room or give yourself permission there, or set {HOME_VARIABLE} to another"
            " folder.",
        ) from error
    if not stat.S_ISDIR(state.st_mode):
        raise _not_private(path, "it is a link")
    if os.name == "posix":
        if state.st_uid != os.geteuid():
            raise _not_private(path, "it belongs to another user")
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise _not_private(path, "other users can write to it")
    return path


def _not_private(path: Path, why: str) -> Refused:
    return Refused(
        "settings.folder_not_private",
        f"The folder {path} is not used: {why}.",
        f"Move it away, take the others' permission back (chmod 700), or set {HOME_VARIABLE}"
        " to another folder.",
    )
