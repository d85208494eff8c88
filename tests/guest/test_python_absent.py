"""What this runtime cannot have says so, whatever way a program asks for it."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs

SENTENCE = "not available in the WASM runtime"


@pytest.mark.parametrize(
    "module",
    [
        "socket", "ssl", "subprocess", "multiprocessing", "multiprocessing.pool", "ctypes",
        "ctypes.util", "tkinter", "turtle", "curses", "readline", "mmap", "fcntl", "pwd", "grp",
        "resource", "termios", "syslog", "webbrowser", "smtplib", "ftplib", "venv", "ensurepip",
        "_socket", "_ssl", "_ctypes", "concurrent.futures.process",
    ],
)  # fmt: skip
def test_import_of_an_impossible_module_is_explained(python: Programs, module: str) -> None:
    ran = python(f"import {module}")
    assert ran.exit_code == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: No module named ")
    assert SENTENCE in last
    assert "absent.py" not in ran.stderr
    assert ran.report is not None
    top = "multiprocessing" if module == "concurrent.futures.process" else module.split(".")[0]
    assert ran.report.module == top


def test_guarded_imports_of_the_ecosystem_keep_working(python: Programs) -> None:
    ran = python(
        """
        try:
            import fcntl
        except ImportError:
            fcntl = None
        try:
            import numpy
        except ModuleNotFoundError as error:
            print(error, error.name)
        """,
        check=True,
    )
    assert ran.stdout == "No module named 'numpy' numpy\n"


@pytest.mark.parametrize("module", ["js", "pyodide_js", "pyodide", "wasmtime"])
def test_no_bridge_to_another_language_or_to_the_host(python: Programs, module: str) -> None:
    ran = python(f"import {module}")
    assert ran.report is not None
    assert (ran.report.type, ran.report.module) == ("ModuleNotFoundError", module)


@pytest.mark.parametrize(
    "module",
    [
        "asyncio", "http.client", "urllib.request", "logging.handlers", "logging.config",
        "socketserver", "xmlrpc.client", "concurrent.futures", "threading", "signal", "select",
        "selectors", "email.message", "http.cookiejar", "wsgiref.util",
    ],
)  # fmt: skip
def test_library_modules_that_only_mention_sockets_import(python: Programs, module: str) -> None:
    python(f"import {module}", check=True)


@pytest.mark.parametrize(
    ("use", "error"),
    [
        ("__import__('urllib.request').request.urlopen('http://example.com')", "URLError"),
        ("__import__('urllib.request').request.urlopen('https://example.com')", "URLError"),
        (
            "__import__('http.client').client.HTTPSConnection('a').request('GET', '/')",
            "PermissionError",
        ),
        ("__import__('socketserver').TCPServer(('', 0), None)", "PermissionError"),
        ("asyncio.run(asyncio.open_connection('a', 1))", "PermissionError"),
        ("asyncio.run(serve())", "PermissionError"),
        ("asyncio.run(asyncio.create_subprocess_exec('ls'))", "PermissionError"),
        ("asyncio.run(asyncio.create_subprocess_shell('ls'))", "PermissionError"),
        ("os.system('ls')", "PermissionError"),
        ("os.popen('ls')", "ModuleNotFoundError"),
        ("concurrent.futures.ProcessPoolExecutor()", "ModuleNotFoundError"),
        ("threading.Thread(target=print).start()", "RuntimeError"),
        ("concurrent.futures.ThreadPoolExecutor().submit(print)", "RuntimeError"),
        ("hashlib.scrypt(b'', salt=b'', n=2, r=1, p=1)", "RuntimeError"),
    ],
)
def test_use_of_what_is_absent_is_explained(python: Programs, use: str, error: str) -> None:
    ran = python(
        "import asyncio, concurrent.futures, hashlib, os, threading\n"
        "async def serve(): await asyncio.start_server(print, '', 0)\n" + use
    )
    assert ran.report is not None
    assert ran.report.type == error
    assert SENTENCE in ran.report.message


def test_thread_error_begins_as_in_cpython(python: Programs) -> None:
    report = python("import threading\nthreading.Thread(target=print).start()").report
    assert report is not None
    assert report.message.startswith("can't start new thread")


@pytest.mark.parametrize("name", ["fork", "execv", "kill", "getuid"])
def test_missing_functions_of_os_are_missing_attributes(python: Programs, name: str) -> None:
    ran = python(f"import os\nprint(hasattr(os, {name!r}))\nos.{name}")
    assert ran.stdout == "False\n"
    assert ran.status is Status.FAILED


def test_library_functions_that_would_ask_the_system_have_answers(python: Programs) -> None:
    ran = python(
        """
        import email.utils, getpass, os, platform, types, uuid
        print(uuid.uuid1().version, uuid.getnode() > 0, platform.system(), platform.node() != None)
        print(email.utils.make_msgid('x').endswith('.x@localhost>'), os.cpu_count())
        print(platform.python_version(), platform.platform() != '', types.CapsuleType.__name__)
        """,
        check=True,
    )
    assert ran.stdout == "1 True wasi True\nTrue 1\n3.13.5 True PyCapsule\n"
