"""The request, and the ``__main__`` that it becomes: as ``python FILE`` would set it up."""

from __future__ import annotations

from _nova_guest.pristine import builtins as __builtins__  # noqa: A004 - see pristine

import json
import linecache
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from pkgutil import get_importer
from types import CodeType, ModuleType
from typing import Any, NoReturn

from _nova_guest import fresh

WORK = "/work"
STDIN_NAME = "<stdin>"
"""The name under which CPython runs a script from standard input."""

_stderr = sys.stderr


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
    header = json.loads(request[4 : 4 + header_bytes])
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
    sys.modules["__main__"] = main
    main.__builtins__ = sys.modules["builtins"]
    main.__annotations__ = {}
    if header["entry"] is None:
        source = request[source_start:source_end].decode("utf-8", "replace")
        return _from_text(main, header["name"], source)
    return _from_file(main, header["entry"])


def _from_text(main: ModuleType, name: str, source: str) -> CodeType:
    source = source.removeprefix("\ufeff")
    namespace = vars(main)
    namespace["__loader__"] = _TextLoader(name, source)
    sys.path.insert(0, "" if name.startswith("<") else WORK)
    if name != STDIN_NAME:
        namespace["__file__"] = name
        namespace["__cached__"] = None
    # The time stamp None tells linecache that there is no file to compare with.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return compile(source, name, "exec", dont_inherit=True)


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
    sys.path.insert(0, os.path.dirname(path))
    return compile(source, path, "exec", dont_inherit=True)


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
