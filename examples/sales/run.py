"""The worked example of ``make run``: a real program over real files, in the sandbox.

It works on a fresh copy below ``build/``, so that what the program writes is there to look at
and the repository stays as it was.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from nova_desktop.cli.main import run_command_line

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPY = ROOT / "build" / "sales"


def main() -> int:
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for name in ("sales.csv", "report.py"):
        shutil.copy2(HERE / name, COPY / name)

    work = _shown(COPY)
    arguments = ["run", f"{work}/report.py", "--work", work, "--write", "yes"]
    print("A program that somebody else wrote, over a folder of yours:\n", flush=True)
    print(f"$ nova {' '.join(map(_quoted, arguments))}\n", flush=True)
    code = run_command_line(arguments)
    if code == 0:
        _what_next()
    return code


def _what_next() -> None:
    nova = _quoted(_shown(Path(sys.executable).with_name("nova")))
    commands = {
        f"{nova} run examples/words.js --work docs": "JavaScript; asks before it writes",
        f"echo 'print(2**100)' | {nova} run -l python": "any program, without a folder",
        f"{nova} doctor": "what works on this machine",
    }
    width = max(map(len, commands))
    print(f"\nThe results: {_shown(COPY / 'results')}\n\nNext:")
    for command, what in commands.items():
        print(f"  {command:<{width}}  # {what}")


def _shown(path: Path) -> str:
    """Relative to where the reader stands, when it lies below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
