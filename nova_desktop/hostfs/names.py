"""Names that an operating system cannot hold, or would hold as something else. Pure.

On Windows, ``a:b.txt`` writes a hidden stream of ``a``, ``con`` is a device in every folder,
``x.`` is ``x``, and ``GRANTE~1`` may be another file's short name; see "Naming Files, Paths,
and Namespaces" (Microsoft). A name that is silently changed is data that is silently lost, so
such names are refused one by one, never repaired.
"""

from __future__ import annotations

import enum
import os
import re
import unicodedata
from dataclasses import dataclass

MAX_NAME_UNITS = 255
"""ext4, XFS, btrfs, APFS: bytes. NTFS, exFAT: UTF-16 code units."""


class NameRules(enum.Enum):
    """Whose rules hold where a file is to be written."""

    POSIX = "posix"
    WINDOWS = "windows"

    @classmethod
    def of_this_system(cls) -> NameRules:
        return cls.WINDOWS if os.name == "nt" else cls.POSIX


@dataclass(frozen=True, slots=True)
class NameProblem:
    code: str
    reason: str


_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    # The superscript digits count as well: COM¹ is COM1 to the Win32 layer.
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
_WINDOWS_FORBIDDEN = frozenset('<>:"/\\|?*')
_SHORT_NAME = re.compile(r"[^.]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?\Z")


def name_problem(name: str, rules: NameRules) -> NameProblem | None:
    """Why ``name`` (one path component) cannot be written, or None when it can."""
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        return NameProblem("name.not_unicode", "its name is not valid Unicode")
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        return NameProblem("name.not_a_name", "its name would lead to another place")
    length = len(encoded)
    if rules is NameRules.WINDOWS:
        length = len(name.encode("utf-16-le")) // 2
    if length > MAX_NAME_UNITS:
        return NameProblem("name.too_long", f"its name is longer than {MAX_NAME_UNITS} bytes")
    return _windows_problem(name) if rules is NameRules.WINDOWS else None


def _windows_problem(name: str) -> NameProblem | None:
    reason = ""
    if not _WINDOWS_FORBIDDEN.isdisjoint(name) or any(character < " " for character in name):
        reason = "Windows does not allow one of the characters of its name"
    elif name[-1] in ". ":
        reason = "Windows drops the dot or space at the end of its name"
    elif name.partition(".")[0].rstrip(" ").lower() in _WINDOWS_DEVICES:
        reason = "its name is a device on Windows"
    elif _SHORT_NAME.match(name):
        reason = "its name may be the short name of another file on Windows"
    return NameProblem("name.reserved", reason) if reason else None


_TEMPORARY_PREFIX = ".nova-"
_TEMPORARY_SUFFIX = ".tmp"


def temporary_name(unique: str) -> str:
    """The name of a file while it is written, before it gets its own."""
    return f"{_TEMPORARY_PREFIX}{unique}{_TEMPORARY_SUFFIX}"


def is_temporary(name: str) -> bool:
    """Whether a file is one of these: left when a process was killed while it wrote."""
    return name.startswith(_TEMPORARY_PREFIX) and name.endswith(_TEMPORARY_SUFFIX)


def collision_key(name: str) -> str:
    """Equal for names that some file system takes for the same one (case, NFC and NFD)."""
    if name.isascii():
        return name.lower()
    # Folding can undo composition and the other way round (Unicode 3.13, D145), hence twice.
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    return unicodedata.normalize("NFC", folded)
