"""Finding and calling the other programs that we are compared with."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotAvailable(Exception):
    """A contender cannot run here; the message says why."""


def run(command: Sequence[str | Path], **options: object) -> str:
    """The command's output.

    Raises:
        NotAvailable: it cannot be started, fails, or takes longer than two minutes.
    """
    try:
        ended = subprocess.run(
            [os.fspath(word) for word in command],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
            **options,  # type: ignore[call-overload]
        )
    except FileNotFoundError:
        raise NotAvailable(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout or "").strip().splitlines()[-1:] or ["no message"]
        raise NotAvailable(f"{Path(command[0]).name} failed: {last[0][:200]}") from None
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"{Path(command[0]).name} took longer than two minutes") from None
    assert isinstance(ended.stdout, str)
    return ended.stdout


def found(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise NotAvailable(f"{name} is not installed")
    return path


@functools.cache
def native_python() -> str:
    """The machine's own Python, not the one of a virtual environment.

    A distribution's build is the fair measure: profile-guided, as a person has it.
    """
    for candidate in ("/usr/bin/python3.11", "/usr/bin/python3", sys.executable):
        if Path(candidate).exists():
            return candidate
    raise NotAvailable("no native Python was found")


@functools.cache
def native_version() -> str:
    return run([native_python(), "-V"]).strip()
