"""Programs that break, exhaust or replace what they can reach: the ending stays a clear one."""

from __future__ import annotations

import pytest

from nova_desktop.model import MIB, Status
from tests.guest.conftest import Programs


def test_a_sleep_past_the_deadline_ends_at_the_deadline(python: Programs) -> None:
    ran = python("import time\nprint('a', flush=True)\ntime.sleep(60)", timeout_s=1.0)
    assert (ran.status, ran.stdout) == (Status.TIMED_OUT, "a\n")
    assert ran.seconds < 3


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "9 ** 9 ** 9",
        "import re\nre.match('(a+)+$', 'a' * 64 + 'b')",
        "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nasyncio.run(f())",
        "sum(iter(int, 1))",
    ],
)
def test_endless_work_is_timed_out_with_its_output_kept(python: Programs, loop: str) -> None:
    ran = python("print('partial')\nopen('kept', 'w').write('x')\n" + loop, timeout_s=1.0)
    assert (ran.status, ran.stdout) == (Status.TIMED_OUT, "partial\n")
    assert "kept" in ran.files
    assert ran.seconds < 4


@pytest.mark.parametrize(
    "greed",
    [
        "x = []\nwhile True: x.append(bytearray(10**6))",
        "x = b'x' * 2 * 10**9",
        "x = [0]\nwhile True: x += x",
        "x = {}\nfor i in range(10**9): x[i] = str(i) * 10",
        "x = 'ab'\nwhile True: x += x",
        "import itertools\nx = list(itertools.count())",
    ],
)
def test_memory_exhaustion_is_a_memory_error_with_a_traceback(python: Programs, greed: str) -> None:
    ran = python("print('before')\n" + greed, memory_bytes=128 * MIB, timeout_s=60)
    assert ran.status is Status.OUT_OF_MEMORY
    assert ran.stdout == "before\n"
    assert ran.stderr.startswith("Traceback (most recent call last):\n")
    assert ran.stderr.rstrip().endswith("MemoryError")
    assert ran.report is not None
    assert ran.report.type == "MemoryError"


def test_a_program_that_copes_with_memory_errors_finishes(python: Programs) -> None:
    ran = python(
        "try:\n    x = bytearray(10**9)\nexcept MemoryError:\n    print('coped')",
        memory_bytes=128 * MIB,
        check=True,
    )
    assert ran.stdout == "coped\n"


@pytest.mark.parametrize(
    "recursion",
    [
        "def f(): f()\nf()",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "class A:\n    def __getattr__(self, name): return getattr(self, name)\nA().x",
        "x = []\nfor _ in range(100_000): x = [x]\nrepr(x)",
        "import json\nx = []\nfor _ in range(100_000): x = [x]\njson.dumps(x)",
        "import json\njson.loads('[' * 100_000)",
        "import copy\nx = []\nfor _ in range(100_000): x = [x]\ncopy.deepcopy(x)",
        "import pickle\nx = []\nfor _ in range(100_000): x = [x]\npickle.dumps(x)",
    ],
)
def test_endless_recursion_is_a_recursion_error(python: Programs, recursion: str) -> None:
    ran = python(recursion)
    assert ran.report is not None, ran.error_code
    assert ran.report.type == "RecursionError"
    assert ran.status is Status.FAILED


PATCHES = {
    "builtins cleared": "import builtins\nforget, ValueError = delattr, ValueError\n"
    "for n in list(vars(builtins)): forget(builtins, n)",
    "modules emptied": "import sys, traceback, linecache, io, os, json, gc, atexit\n"
    "for m in (traceback, linecache, io, os, json, gc, atexit):\n"
    "    for n in list(vars(m)):\n        if not n.startswith('__'): delattr(m, n)",
    "sys.modules cleared": "import sys\nsys.modules.clear()",
    "builtins replaced": "import builtins\n"
    "builtins.isinstance = builtins.str = builtins.print = builtins.getattr = None",
    "sys emptied": "import sys\nfor n in list(vars(sys)):\n"
    "    if n not in ('stderr', '__name__'): delattr(sys, n)",
    "hooks raise": "import sys\nsys.excepthook = sys.unraisablehook = sys.settrace = 1",
    "tiny recursion limit": "import sys\nsys.setrecursionlimit(8)",
    "profiler set": "import sys\nsys.setprofile(lambda *a: 1 / 0)\nsys.settrace(lambda *a: 1 / 0)",
    "import replaced": "import builtins, sys\nbuiltins.__import__ = None\nsys.meta_path.clear()",
    "gc raises": "import gc\ngc.callbacks.append(lambda *a: 1 / 0)",
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES.keys())
def test_an_error_is_still_told_after_the_program_broke_things(
    python: Programs, patch: str
) -> None:
    ran = python(f"{patch}\nraise ValueError('still shown')")
    assert ran.status is Status.FAILED
    assert ran.exit_code == 1
    assert ran.report is not None
    assert ran.report.type in ("ValueError", "ZeroDivisionError", "RecursionError")
    if ran.report.type == "ValueError":
        assert "ValueError: still shown" in ran.stderr


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES.keys())
def test_output_is_flushed_after_the_program_broke_things(python: Programs, patch: str) -> None:
    ran = python(f"import sys\nsys.stdout.write('kept')\nexit_now = SystemExit(0)\n{patch}")
    assert ran.stdout.startswith("kept")


def test_huge_messages_are_cut_in_the_report_only(python: Programs) -> None:
    ran = python("raise ValueError('x' * 300_000)")
    assert ran.report is not None
    assert len(ran.report.message) == 4096
    assert len(ran.stderr) > 300_000


def test_an_exception_cannot_forge_the_report_or_crash_it(python: Programs) -> None:
    ran = python(
        """
        class S(str):
            def __getitem__(self, i): raise RuntimeError
            def __str__(self): return self
        class E(ImportError):
            def __str__(self): return S('"}\\x00\\ud800\\n')
        raise E(name=S('nu"mpy'))
        """
    )
    assert ran.report is not None
    assert ran.report.type == "E"
    assert ran.report.module == 'nu"mpy'
