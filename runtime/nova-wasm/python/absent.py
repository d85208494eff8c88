"""Modules that cannot exist in this runtime, and the finder that says so.

Data first: the recipe reads ``ABSENT`` too and leaves these modules out of the standard
library's archive, so that a module of the same name in the user's folder is found as usual and
only otherwise the finder at the end of ``sys.meta_path`` is asked.
"""

import sys
from importlib.machinery import ModuleSpec

_NETWORK = "programs have no network"
_PROCESS = "programs cannot start other programs"
_NATIVE = "native libraries cannot be loaded"
_DISPLAY = "there is no display"
_TERMINAL = "there is no terminal"
_SYSTEM = "there are no users, processes or services of an operating system"

ABSENT: dict[str, str] = {
    "_ctypes": _NATIVE,
    "_curses": _TERMINAL,
    "_curses_panel": _TERMINAL,
    "_dbm": _NATIVE,
    "_gdbm": _NATIVE,
    "_multiprocessing": _PROCESS,
    "_posixshmem": _PROCESS,
    "_posixsubprocess": _PROCESS,
    "_socket": _NETWORK,
    "_ssl": _NETWORK,
    "_tkinter": _DISPLAY,
    "ctypes": _NATIVE,
    "curses": _TERMINAL,
    "ensurepip": _NETWORK,
    "fcntl": "there are no file locks",
    "ftplib": _NETWORK,
    "grp": _SYSTEM,
    "idlelib": _DISPLAY,
    "imaplib": _NETWORK,
    "mmap": "files cannot be mapped into memory",
    "multiprocessing": _PROCESS,
    "poplib": _NETWORK,
    "pty": _TERMINAL,
    "pwd": _SYSTEM,
    "readline": _TERMINAL,
    "resource": _SYSTEM,
    "smtplib": _NETWORK,
    "socket": _NETWORK,
    "ssl": _NETWORK,
    "subprocess": _PROCESS,
    "syslog": _SYSTEM,
    "termios": _TERMINAL,
    "tkinter": _DISPLAY,
    "tty": _TERMINAL,
    "turtle": _DISPLAY,
    "turtledemo": _DISPLAY,
    "venv": _PROCESS,
    "webbrowser": _PROCESS,
}
"""Top-level module name to the reason, a clause that continues the sentence of the error."""


def sentence(name: str, reason: str) -> str:
    """The wording shared by imports and uses; ``nova prompt`` and tests rely on its middle."""
    return f"{name} is not available in the WASM runtime: {reason}"


class AbsentFinder:
    """Last on ``sys.meta_path``: turns "No module named" into an explanation."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        reason = ABSENT.get(name.partition(".")[0])
        if reason is None:
            return None
        raise ModuleNotFoundError(f"No module named {name!r} ({sentence(name, reason)})", name=name)


def install() -> None:
    """Tracebacks leave out the frames of importlib for an ImportError; ours should go with them."""
    function = AbsentFinder.find_spec
    function.__code__ = function.__code__.replace(
        co_filename="<frozen importlib._bootstrap_external>"
    )
    sys.meta_path.append(AbsentFinder)
