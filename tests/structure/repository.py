"""What is in the repository: the files that git knows, or would take."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nova_desktop"


@functools.cache
def files() -> tuple[Path, ...]:
    """All files but ignored ones, relative to the root.

    An unpacked archive has no git; there it is everything outside hidden and built folders.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        listed = subprocess.check_output(command, cwd=ROOT, encoding="utf-8").split("\0")
        found = [Path(name) for name in listed if name]
    else:
        found = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        found = [path for path in found if not path.parts[0].startswith(".venv")]
    return tuple(sorted(path for path in found if (ROOT / path).is_file()))


def text_files() -> dict[Path, str]:
    texts = {}
    for path in files():
        content = (ROOT / path).read_bytes()
        if b"\0" not in content:
            texts[path] = content.decode("utf-8")
    return texts


def modules() -> list[Path]:
    """Python modules of the package with code of their own, relative to it."""
    found = []
    for path in files():
        if path.suffix == ".py" and path.parts[0] == PACKAGE.name and path.name != "__init__.py":
            found.append(path.relative_to(PACKAGE.name))
    return found
