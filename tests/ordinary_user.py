"""Running a few lines without root's power to read and write everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_NOBODY = 65534

_DROP = f"""
import os
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({_NOBODY})
    os.setuid({_NOBODY})
"""


def open_the_way_to(folder: Path) -> None:
    """Let others walk to ``folder``: a test's temporary folders are its user's alone."""
    for parent in (folder, *folder.parents):
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode | 0o011)


def run_as_ordinary_user(folder: Path, imports: str, code: str) -> str:
    """What ``code`` prints. ``imports`` runs before root is given up, as our own files may lie
    where nobody else can read them."""
    if os.geteuid() == 0:
        open_the_way_to(folder)
    done = subprocess.run(
        [sys.executable, "-c", imports + _DROP + code],
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
