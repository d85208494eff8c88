"""What to tell a person, or a model, whose program met the edge of the sandbox.

One sentence, from what the guest reported and what was asked for. The tables here are also what
``nova prompt`` says beforehand, so that the two never differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nova_desktop.model import ExecutionRequest, Language, PathNote
from nova_desktop.sandbox.wasm.program import GuestReport

PYTHON_PACKAGES = {
    "numpy": "use lists, the array and statistics modules, or sqlite3",
    "pandas": "use the csv, statistics and sqlite3 modules",
    "polars": "use the csv, statistics and sqlite3 modules",
    "pyarrow": "use the csv or sqlite3 modules",
    "scipy": "use the math and statistics modules",
    "sklearn": "use the math and statistics modules",
    "torch": "no machine-learning library runs here",
    "tensorflow": "no machine-learning library runs here",
    "matplotlib": "use pygal, or write SVG as text",
    "seaborn": "use pygal, or write SVG as text",
    "plotly": "use pygal, or write SVG as text",
    "PIL": "no picture library runs here; SVG can be written as text",
    "cv2": "no picture library runs here",
    "requests": "there is no network; put the data into the folder beforehand",
    "httpx": "there is no network; put the data into the folder beforehand",
    "aiohttp": "there is no network; put the data into the folder beforehand",
    "urllib3": "there is no network; put the data into the folder beforehand",
    "boto3": "there is no network; put the data into the folder beforehand",
    "openai": "there is no network; put the data into the folder beforehand",
    "selenium": "there is no network and no browser",
    "playwright": "there is no network and no browser",
    "flask": "there is no network, so nothing can be served",
    "fastapi": "there is no network, so nothing can be served",
    "django": "there is no network, so nothing can be served",
    "lxml": "use xml.etree.ElementTree or bs4",
    "yaml": "use json or tomllib",
    "docx": "a .docx file is a zip of XML: use zipfile and xml.etree.ElementTree",
    "fitz": "use pypdf",
    "PyPDF2": "use pypdf",
    "psycopg2": "there is no network; sqlite3 works on files",
    "pip": "no package can be installed here; the standard library and the library pack work",
    "pytest": "use unittest or plain assert",
    "tqdm": "print the progress",
}
"""Third-party modules that programs often import and that this runtime cannot have."""

PYTHON_STDLIB = {
    "socket": "there is no network",
    "ssl": "there is no network",
    "_socket": "there is no network",
    "_ssl": "there is no network",
    "http.server": "there is no network",
    "socketserver": "there is no network",
    "smtplib": "there is no network",
    "ftplib": "there is no network",
    "subprocess": "there are no processes; do the work in Python itself",
    "_posixsubprocess": "there are no processes; do the work in Python itself",
    "multiprocessing": "there are no processes; do the work one after the other",
    "_multiprocessing": "there are no processes; do the work one after the other",
    "concurrent.futures": "there are no threads; do the work one after the other",
    "ctypes": "native code cannot be loaded",
    "_ctypes": "native code cannot be loaded",
    "tkinter": "there is no screen; write the result to a file",
    "_tkinter": "there is no screen; write the result to a file",
    "turtle": "there is no screen; write SVG as text",
    "curses": "there is no terminal; print text",
    "readline": "there is no terminal",
    "termios": "there is no terminal",
    "fcntl": "it does not exist in a WebAssembly sandbox",
    "resource": "it does not exist in a WebAssembly sandbox",
    "mmap": "read the file instead",
    "winreg": "this is not Windows",
    "winsound": "there is no sound",
    "ensurepip": "no package can be installed here",
    "venv": "no package can be installed here",
}
"""Standard modules that cannot exist without sockets, processes, native code or a screen."""

JAVASCRIPT_NAMES = {
    "fetch": "there is no network; put the data into the folder beforehand",
    "XMLHttpRequest": "there is no network; put the data into the folder beforehand",
    "WebSocket": "there is no network",
    "document": "there is no browser page; write HTML or SVG to a file",
    "window": "there is no browser; use globalThis",
    "localStorage": "there is no browser; write a file with the fs module",
    "alert": "there is no browser; use console.log",
    "Deno": "this is not Deno; use the fs module",
    "Bun": "this is not Bun; use the fs module",
    "Worker": "there are no threads; do the work one after the other",
    "Buffer": "use Uint8Array, TextEncoder and TextDecoder",
    "__dirname": "use process.cwd(), which is /work",
    "__filename": "use process.argv[1]",
}
"""Globals of other JavaScript hosts that do not exist here."""

JAVASCRIPT_MODULES = {
    "child_process": "there are no processes; do the work in JavaScript itself",
    "cluster": "there are no processes",
    "worker_threads": "there are no threads; do the work one after the other",
    "http": "there is no network; put the data into the folder beforehand",
    "https": "there is no network; put the data into the folder beforehand",
    "net": "there is no network",
    "dns": "there is no network",
    "tls": "there is no network",
    "crypto": "it is not part of this runtime",
    "os": "it is not part of this runtime; process.env and process.cwd() work",
    "zlib": "it is not part of this runtime",
    "readline": "read process.stdin instead",
    "axios": "there is no network; put the data into the folder beforehand",
    "node-fetch": "there is no network; put the data into the folder beforehand",
    "express": "there is no network, so nothing can be served",
    "lodash": "no npm package can be installed; the language itself has most of it",
    "csv-parse": "no npm package can be installed; split the lines yourself",
    "xlsx": "no npm package can be installed; the Python runtime has openpyxl",
    "puppeteer": "there is no network and no browser",
}
"""Modules of Node and npm that programs often load."""

_HOST_PATH = re.compile(
    r"""(?:^|["'\s(=])(?P<path>
        [A-Za-z]:[\\/][^"'\n]*                                   # C:\Users\...
        | \\\\[^"'\s]+                                           # \\server\share
        | ~(?:/[^"'\n]*)?(?=$|["'\s)])                           # ~/file
        | /(?:home|Users|mnt|media|root|etc|usr|var|opt|Volumes|content|data|app)
          (?:/[^"'\n]*)?
    )""",
    re.VERBOSE,
)

_MISSING_FILE_TYPES = frozenset({"FileNotFoundError", "NotADirectoryError"})
_ABSENT_OS_FUNCTION = re.compile(r"module '(?:os|posix)' has no attribute '(\w{1,40})'")


def find_hint(
    request: ExecutionRequest, report: GuestReport | None, left_out: Sequence[PathNote] = ()
) -> str:
    """One plain sentence about why the program failed, or an empty string.

    ``left_out``: what of the workspace the program could not see.
    """
    if report is None:
        return ""
    if hint := _left_out_hint(report, left_out):
        return hint
    if request.language is Language.PYTHON:
        hint = _python_hint(request, report)
    else:
        hint = _javascript_hint(request, report)
    return hint or _path_hint(request, report)


def output_hint(request: ExecutionRequest) -> str:
    """What to say when the middle of the output had to be dropped."""
    return (
        f"Only {_size(request.limits.output_bytes)} of output are kept; write long results to a"
        " file in /work instead of printing them."
    )


def _python_hint(request: ExecutionRequest, report: GuestReport) -> str:
    if report.type in {"ModuleNotFoundError", "ImportError"} and report.module:
        return _python_import_hint(request, report.module)
    if report.type == "EOFError" and request.stdin is None:
        return (
            "No standard input is connected, so input() has nothing to read; pass the values as"
            " arguments or in a file."
        )
    if absent := _ABSENT_OS_FUNCTION.search(report.message):
        return (
            f"os.{absent[1]} does not exist in the WASM runtime: there are no other processes,"
            " users or devices here."
        )
    return ""


def _python_import_hint(request: ExecutionRequest, module: str) -> str:
    top = module.partition(".")[0]
    instead = PYTHON_STDLIB.get(module) or PYTHON_STDLIB.get(top)
    if instead:
        return f"{module} does not work in the WASM runtime: {instead}."
    instead = PYTHON_PACKAGES.get(top)
    if instead:
        return f"{top} is not available in the WASM runtime: {instead}."
    if request.workspace is None and not request.files:
        return (
            f"There is no module {top} here; if it is a file of yours beside the program, give"
            " its folder with --work."
        )
    return (
        f"There is no module {top} in the folder given, nor in the standard library or the"
        " library pack; nothing can be installed in the sandbox."
    )


def _javascript_hint(request: ExecutionRequest, report: GuestReport) -> str:
    name = report.module.removeprefix("node:")
    if report.type == "ReferenceError" and name in JAVASCRIPT_NAMES:
        return f"{name} does not exist in the WASM runtime: {JAVASCRIPT_NAMES[name]}."
    if name.partition("/")[0] in JAVASCRIPT_MODULES:
        top = name.partition("/")[0]
        return f"The module {top} does not exist in the WASM runtime: {JAVASCRIPT_MODULES[top]}."
    if report.type == "ReferenceError" and name == "require":
        return "Use import instead of require in a module."
    if name and "Cannot find module" in report.message:
        return _javascript_import_hint(request, name)
    return ""


def _javascript_import_hint(request: ExecutionRequest, name: str) -> str:
    if not name.startswith((".", "/")):
        return f"No npm package can be installed in the WASM runtime, so there is no {name}."
    if request.workspace is None and not request.files:
        return (
            f"There is no module {name} here; if it is a file of yours beside the program, give"
            " its folder with --work."
        )
    return ""


def _left_out_hint(report: GuestReport, left_out: Sequence[PathNote]) -> str:
    path = report.path.removeprefix("/work/").removeprefix("./")
    for note in left_out:
        if path == note.path or path.startswith(f"{note.path}/"):
            return f"{note.path} was not shown to the program: {note.reason}."
    return ""


def _path_hint(request: ExecutionRequest, report: GuestReport) -> str:
    if "Read-only file system" in report.message or "EROFS" in report.message:
        return "Only /work, where the program sees your folder, and /tmp can be written."
    missing = report.type in _MISSING_FILE_TYPES or "ENOENT" in report.message
    # SQLite does not say which file.
    if not missing and "unable to open database file" not in report.message:
        return ""
    if not missing or _HOST_PATH.search(report.path or report.message):
        return (
            "The program sees your folder as /work; other paths of this computer do not exist"
            " inside the sandbox."
        )
    if report.path and request.workspace is None and not request.files:
        return "No folder was given to the program; name one with --work to let it read files."
    return ""


def _size(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"
