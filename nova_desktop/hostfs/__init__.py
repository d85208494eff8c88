"""The only code that touches a path somebody else chose.

A ``Directory`` is an open folder. Everything is done relative to that handle, one plain name
at a time, never through a link; so whoever holds one can reach what is inside and nothing else,
also while another process moves things about (cap-std's ``Dir``; openat(2)).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nova_desktop.hostfs.names import NameProblem, NameRules, collision_key, name_problem
from nova_desktop.hostfs.state import (
    Entry,
    FileKind,
    FileState,
    NotARegularFile,
    OutsideName,
    StillChanging,
    TooLarge,
)
from nova_desktop.model import WorkspaceError

if TYPE_CHECKING:
    from nova_desktop.hostfs.posix import Directory

__all__ = [
    "Entry",
    "FileKind",
    "FileState",
    "NameProblem",
    "NameRules",
    "NotARegularFile",
    "OutsideName",
    "StillChanging",
    "TooLarge",
    "collision_key",
    "name_problem",
    "open_directory",
]


def open_directory(path: str | os.PathLike[str]) -> Directory:
    """Open the folder at ``path``; its last part must not be a link.

    Raises:
        OSError: it does not exist, is not a folder, or may not be read.
        WorkspaceError: this system's race-free calls are not supported yet.
    """
    if os.name != "posix":
        raise WorkspaceError(
            "workspace.unsupported_system",
            "Working on a real folder is not supported on this system yet.",
            "Run the program without --work, or use Nova inside WSL.",
        )
    from nova_desktop.hostfs.posix import Directory

    return Directory.open(path)
