"""What an AI model should know before it writes a program for this sandbox: ten lines."""

from __future__ import annotations

from collections.abc import Sequence

from nova_desktop.execute.hints import JAVASCRIPT_NAMES, PYTHON_PACKAGES, PYTHON_STDLIB
from nova_desktop.model import Limits

_USUAL_PACKAGES = ("numpy", "pandas", "scipy", "matplotlib", "requests", "PIL", "lxml", "yaml")
_USUAL_STDLIB = ("socket", "ssl", "subprocess", "multiprocessing", "ctypes", "tkinter")
_USUAL_GLOBALS = ("fetch", "document", "window", "Buffer", "Worker")


def describe_sandbox(packages: Sequence[str], *, python: str, limits: Limits) -> str:
    """Ten lines for a model. ``packages``: names in the library pack; ``python``: version."""
    instead = "; ".join(f"{name}: {PYTHON_PACKAGES[name]}" for name in _USUAL_PACKAGES[1:4])
    lines = (
        f"You write programs for a WebAssembly sandbox: Python {python} or JavaScript (ES2023).",
        "The user's files are in /work, which is also the current directory; /tmp can be used;"
        " no other path of the computer exists.",
        "Changes under /work are shown to the user and written only after approval; write long"
        " results to a file there instead of printing them.",
        "Python has its standard library, with sqlite3, asyncio, decimal, zoneinfo, csv and json,"
        f" except: {', '.join(_checked(_USUAL_STDLIB, PYTHON_STDLIB))}.",
        f"Python packages that work: {', '.join(packages) or 'none'}.",
        f"Not available: {', '.join(_checked(_USUAL_PACKAGES, PYTHON_PACKAGES))}; nothing can be"
        " installed.",
        f"Instead of what is missing: {instead}.",
        "JavaScript has console, timers, promises, TextEncoder, URL, and an fs module over /work,"
        f" but not: {', '.join(_checked(_USUAL_GLOBALS, JAVASCRIPT_NAMES))}, npm packages.",
        "There is no network, no other process, no thread, no keyboard input; read input from"
        " files, arguments or standard input.",
        f"Limits: {limits.timeout_s:g} s, {limits.memory_bytes >> 20} MB for memory and files"
        f" together, {limits.output_bytes >> 20} MB of kept output. Each run starts afresh.",
    )
    return "\n".join(lines)


def _checked(names: Sequence[str], table: dict[str, str]) -> Sequence[str]:
    """``names``, all of which the table explains when a program uses them all the same."""
    missing = [name for name in names if name not in table]
    if missing:
        raise KeyError(f"no hint for {', '.join(missing)}")
    return names
