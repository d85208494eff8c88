"""The order of the preparation: called once by the C embedding while the snapshot is made."""

from __future__ import annotations

import gc
import importlib
import io
import linecache
import os
import random
import struct
import sys
import warnings
from collections.abc import Callable
from types import CodeType

import _nova_guest.pristine  # noqa: F401 - first: nothing below may have touched the builtins yet
from _nova_guest import absent, archives, ending, program, standins, system, warmup

PRELOAD = """
abc argparse array ast base64 bisect bz2 calendar cmath codecs collections collections.abc
colorsys configparser contextlib copy csv dataclasses datetime decimal difflib enum errno fnmatch
fractions functools getpass gettext glob gzip hashlib heapq hmac html html.entities html.parser
importlib importlib.machinery importlib.metadata importlib.resources importlib.util inspect io
ipaddress itertools json keyword linecache locale logging lzma math mimetypes numbers operator os
pathlib pickle pkgutil platform pprint queue random re reprlib runpy secrets shlex shutil signal
sqlite3 stat statistics string struct sys tarfile tempfile textwrap threading time timeit tokenize
tomllib traceback types typing unicodedata unittest urllib.parse uuid warnings weakref
xml.dom.minidom xml.etree.ElementTree zipfile zlib zoneinfo
""".split()
"""Imported before the snapshot: importing them in a run costs nothing."""

PRELOAD_WITH_STANDINS = {
    "asyncio": ("socket", "subprocess"),
    "http.client": ("socket", "ssl"),
    "urllib.request": ("socket", "ssl"),
    "socketserver": ("socket",),
    "logging.handlers": ("socket",),
    "logging.config": ("socket",),
}

Run = tuple[Callable[[bytes], CodeType], Callable[[BaseException], int], Callable[[int], int]]


def prepare() -> Run:
    sys.path[:] = [archives.STDLIB, archives.PACKAGES]
    sys.dont_write_bytecode = True
    os.chdir(program.WORK)
    archives.install()
    system.describe_build()
    _preload()
    system.fill_gaps()
    absent.install()
    _line_buffer_output()
    _warm_up()
    _settle()
    return program.begin, ending.failed, ending.finish


def _preload() -> None:
    for name in PRELOAD:
        importlib.import_module(name)
    for name, needs in PRELOAD_WITH_STANDINS.items():
        with standins.importable(*needs):
            importlib.import_module(name)
    from _nova_guest import loop

    loop.install()


def _line_buffer_output() -> None:
    """What was printed is seen at once, and kept when the run is ended from outside."""
    sys.stdout.reconfigure(line_buffering=True)


def request_for(source: str) -> bytes:
    text = source.encode()
    header = (
        '{"name": "warmup.py", "entry": null, "argv": ["warmup.py"], "tz": "UTC", '
        f'"source_bytes": {len(text)}, "tzif_bytes": 0, "stdin": false, '
        '"work_empty": false}'
    ).encode()
    return struct.pack("<I", len(header)) + header + text


def _warm_up() -> None:
    """Run the small programs through the same three functions, with output thrown away."""
    streams = sys.stdout, sys.stderr
    report, run_atexit = ending._report, ending._run_atexit
    ending._report = lambda message: None
    # It would forget the handlers of the preloaded modules.
    ending._run_atexit = lambda: None
    ending.remember_snapshot()
    for _ in range(3):
        for source in warmup.PROGRAMS:
            path = list(sys.path)
            sys.stdout = io.TextIOWrapper(io.BytesIO(), "utf-8", line_buffering=True)
            sys.stderr = io.TextIOWrapper(io.BytesIO(), "utf-8", line_buffering=True)
            _run_once(source)
            sys.path[:] = path
    sys.stdout, sys.stderr = streams
    ending._report, ending._run_atexit = report, run_atexit


def _run_once(source: str) -> None:
    status = 0
    try:
        code = program.begin(request_for(source))
        exec(code, vars(sys.modules["__main__"]))
    except BaseException as error:
        status = ending.failed(error)
    ending.finish(status)


def _settle() -> None:
    """Leave no trace of the warm-up, of the building machine's files, or of chance."""
    linecache.cache.clear()
    warnings.onceregistry.clear()
    sys.argv[:] = [""]
    for path in sys.path_importer_cache.keys() - {archives.STDLIB, archives.PACKAGES}:
        del sys.path_importer_cache[path]
    for name in [name for name in sys.modules if name.startswith("_nova_guest")]:
        del sys.modules[name]
    random.seed(0)
    sys._clear_internal_caches()
    ending.remember_snapshot()
    program.remember_preloaded()
    gc.collect()
    ending.set_memory_aside()
    gc.freeze()
