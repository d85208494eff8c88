"""The request, and the ``__main__`` that it becomes: as ``python FILE`` would set it up."""

from __future__ import annotations

import io
import json
import linecache
import os
import runpy
import sys
import tokenize
from importlib.machinery import SourceFileLoader
from pkgutil import get_importer
from types import CodeType, ModuleType
from typing import NoReturn

from _nova_guest import fresh
from _nova_guest.pristine import builtins as __builtins__  # noqa: F401 - see pristine

WORK = "/work"
STDIN_NAME = "<stdin>"
"""The name under which CPython runs a script from standard input."""

_AT_STARTUP = frozenset(
    "abc builtins codecs encodings genericpath io marshal os posix posixpath site stat sys time "
    "zipimport".split()
)
"""Imported by CPython before any script: a file of the same name never takes their place."""

_scan_json = json.JSONDecoder().scan_once
"""The part of ``json.loads`` that is C: the rest of it costs a run 0.1 ms of page faults."""

_stderr = sys.stderr
_preloaded: frozenset[str] = frozenset()


def remember_preloaded() -> None:
    """Called last before the snapshot."""
    global _preloaded
    names = {name.partition(".")[0] for name in sys.modules}
    _preloaded = frozenset(name for name in names - _AT_STARTUP if not name.startswith("_"))


class _TextLoader:
    """``__main__.__loader__`` of a program that came as text: it knows the source, no file does."""

    def __init__(self, path: str, source: str) -> None:
        self.name = "__main__"
        self.path = path
        self._source = source

    def get_source(self, fullname: str) -> str:
        return self._source

    def get_filename(self, fullname: str) -> str:
        return self.path

    def is_package(self, fullname: str) -> bool:
        return False


def begin(request: bytes) -> CodeType:
    """Prepare the interpreter for one request and compile its program.

    ``request`` is the wire form of the README. What is raised here (a SyntaxError, or SystemExit
    when the entry is missing) ends the run as if the program had raised it.
    """
    header_bytes = int.from_bytes(request[:4], "little")
    header, _ = _scan_json(request[4 : 4 + header_bytes].decode(), 0)
    source_start = 4 + header_bytes
    source_end = source_start + header["source_bytes"]
    fresh.load_environment()
    fresh.reseed()
    fresh.start_clocks()
    fresh.set_timezone(request[source_end : source_end + header["tzif_bytes"]])
    sys.argv[:] = header["argv"]
    sys.orig_argv[:] = ["python3", *header["argv"]]
    # A module made now, not the snapshot's: gc.freeze hides that one from the collector, and
    # what a program leaves in its namespace must be collected when it ends.
    main = ModuleType("__main__")
    sys.modules.pop("__main__", None)
    sys.modules["__main__"] = main  # at the end of the dictionary, where ``finish`` looks
    main.__builtins__ = sys.modules["builtins"]
    main.__annotations__ = {}
    if header["entry"] is None:
        source = request[source_start:source_end].decode("utf-8", "replace")
        return _from_text(main, header["name"], source, header["work_empty"])
    return _from_file(main, header["entry"])


def _from_text(main: ModuleType, name: str, source: str, work_empty: bool) -> CodeType:
    source = source.removeprefix("\ufeff")
    namespace = vars(main)
    namespace["__loader__"] = _TextLoader(name, source)
    _use_folder("" if name.startswith("<") else WORK, is_empty=work_empty)
    if name != STDIN_NAME:
        namespace["__file__"] = name
        namespace["__cached__"] = None
    # The time stamp None tells linecache that there is no file to compare with.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return _compile(source, name)


def _use_folder(folder: str, *, is_empty: bool = False) -> None:
    """Search ``folder`` first. A module in it comes before the library's of the same name; one
    that is preloaded has to be forgotten for that, since ``import`` would not search for it.
    """
    sys.path.insert(0, folder)
    if is_empty:
        return  # listing it would cost a short run four host calls
    try:
        entries = frozenset(os.listdir(folder or WORK))
    except OSError:
        return  # an unreadable folder has no modules either
    for name in _preloaded.intersection(entry.removesuffix(".py") for entry in entries):
        if f"{name}.py" in entries or os.path.isfile(f"{folder or WORK}/{name}/__init__.py"):
            for loaded in [key for key in sys.modules if key.partition(".")[0] == name]:
                del sys.modules[loaded]


def _from_file(main: ModuleType, path: str) -> CodeType:
    namespace = vars(main)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except IsADirectoryError:
        return _from_container(main, path)
    except OSError as error:
        _usage(2, f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
    if source.startswith(b"PK\3\4"):
        return _from_container(main, path)
    namespace["__loader__"] = SourceFileLoader("__main__", path)
    namespace["__file__"] = path
    namespace["__cached__"] = None
    _use_folder(os.path.dirname(path))
    return _compile(_decode(source, path), path)


def _decode(source: bytes, path: str) -> str:
    """As the tokenizer reads a file: byte order mark, coding cookie, and its own errors."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError as error:
        _, unknown, name = str(error).partition("unknown encoding: ")
        if unknown:
            raise SyntaxError(f"encoding problem: {name}") from None
        encoding = "utf-8"
    try:
        return source.decode(encoding)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        if encoding not in ("utf-8", "utf-8-sig"):
            raise SyntaxError(f"(unicode error) {error}", (path, line, None, None)) from None
        raise SyntaxError(
            f"Non-UTF-8 code starting with '\\x{source[error.start]:02x}' in file {path} on line "
            f"{line}, but no encoding declared; see https://peps.python.org/pep-0263/ for details"
        ) from None


def _compile(source: str, name: str) -> CodeType:
    position = source.find("\0")
    if position >= 0:
        line = source.count("\n", 0, position) + 1
        raise SyntaxError("source code cannot contain null bytes", (name, line, None, None))
    return compile(source, name, "exec", dont_inherit=True)


def _from_container(main: ModuleType, path: str) -> CodeType:
    """A folder or zip archive with a ``__main__.py``."""
    sys.path.insert(0, path)
    get_importer(path)
    try:
        _, spec, code = runpy._get_main_module_details()
    except ImportError as error:
        _usage(1, str(error))
    vars(main).update(
        __file__=spec.origin, __cached__=None, __loader__=spec.loader, __package__="", __spec__=spec
    )
    return code


def _usage(status: int, text: str) -> NoReturn:
    _stderr.write(f"python3: {text}\n")
    raise SystemExit(status)
