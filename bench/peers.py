"""Other sandboxes from PyPI, each in its own process, in an environment of their own.

They bring their own versions of what we use, so they are never installed beside us.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from bench.table import Row, median_row
from bench.tools import ROOT, NotAvailable, run

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
# The first takes seconds a run, so it gets few.
PEERS = {
    "llm-wasm-sandbox, fresh python": ("llm_wasm_sandbox.py", 3),
    "pydantic-monty, fresh session": ("pydantic_monty_pool.py", 200),
}


def rows(*, quick: bool) -> list[Row]:
    try:
        python = _environment()
    except NotAvailable as error:
        return [Row(name, None, str(error)) for name in PEERS]
    return [
        _row(name, python, script, 1 if quick else rounds)
        for name, (script, rounds) in PEERS.items()
    ]


def _row(name: str, python: Path, script: str, rounds: int) -> Row:
    path = Path(__file__).parent / "peer_scripts" / script
    try:
        # The last line: a peer may print a log of its own.
        samples = json.loads(run([python, "-I", path, str(rounds)]).splitlines()[-1])
    except NotAvailable as error:
        return Row(name, None, str(error))
    return median_row(name, samples)


def _environment() -> Path:
    """Make the environment once for each content of ``requirements.txt``."""
    stamp = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = (
        ROOT / "build" / f"bench-peers-{sys.version_info.major}{sys.version_info.minor}-{stamp}"
    )
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "complete"
    if not done.exists():
        print(f"Installing the peers to compare with into {folder} ...", file=sys.stderr)
        run([sys.executable, "-m", "venv", "--clear", folder])
        run([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", REQUIREMENTS])
        done.touch()
    return python
