"""Other processes, threads, native code."""

from __future__ import annotations

from nova_desktop.model import Status
from tests.attack.attack import COPED, JS, SHOW, Control, Group

CRASH = COPED | {Status.LIMIT}


_a = Group("processes")


ATTACKS = [
    _a(
        "starts-a-process-with-subprocess",
        f"""
import subprocess
if subprocess.run(["/bin/echo", "x"], capture_output=True).stdout: {SHOW}
""",
    ),
    _a(
        "starts-a-shell-with-os-system",
        f"""
import os
if os.system("exit 7") >> 8 == 7: {SHOW}
""",
    ),
    _a(
        "starts-a-shell-with-popen",
        f"""
import os
if os.popen("echo x").read(): {SHOW}
""",
    ),
    _a(
        "forks",
        f"""
import os
pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0); {SHOW}
""",
    ),
    _a(
        "replaces-itself-with-a-shell",
        """
import os
os.execv("/bin/echo", ["echo", "REA" "CHED"])
""",
    ),
    _a(
        "spawns-with-posix-spawn",
        f"""
import os
os.waitpid(os.posix_spawn("/bin/true", ["true"], {{}}), 0); {SHOW}
""",
    ),
    _a(
        "spawns-with-the-c-module",
        f"""
import _posixsubprocess, sys
if _posixsubprocess.fork_exec: {SHOW}
""",
    ),
    _a(
        "starts-a-process-with-multiprocessing",
        f"""
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=int)
process.start(); process.join(); {SHOW}
""",
    ),
    _a(
        "opens-a-pseudo-terminal",
        f"""
import pty, os
pid, fd = pty.fork()
if pid == 0: os._exit(0)
{SHOW}
""",
    ),
    _a(
        "starts-a-process-with-asyncio",
        f"""
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("/bin/true"); await process.wait(); {SHOW}
asyncio.run(main())
""",
    ),
    _a(
        "starts-a-thread",
        f"""
import threading
t = threading.Thread(target=lambda: {SHOW}); t.start(); t.join()
""",
    ),
    _a(
        "starts-a-thread-with-the-c-module",
        f"""
import _thread, time
_thread.start_new_thread(lambda: {SHOW}, ()); time.sleep(0.2)
""",
    ),
    _a(
        "sends-a-signal-to-its-own-process",
        f"""
import os, signal
signal.signal(signal.SIGUSR1, lambda *a: {SHOW}); os.kill(os.getpid(), signal.SIGUSR1)
""",
    ),
    _a(
        "loads-the-c-library-with-ctypes",
        f"""
import ctypes
if ctypes.CDLL(None).getpid(): {SHOW}
""",
    ),
    _a(
        "reads-memory-with-ctypes",
        f"""
import ctypes
if ctypes.string_at(id(b"x"), 8): {SHOW}
""",
    ),
    _a(
        "maps-executable-memory",
        f"""
import mmap
mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC); {SHOW}
""",
    ),
    _a(
        "loads-a-native-extension",
        f"""
import glob, importlib.machinery, importlib.util
path = glob.glob("/usr/lib/python3*/lib-dynload/_*.so")[0]
name = path.rpartition("/")[2].partition(".")[0]
loader = importlib.machinery.ExtensionFileLoader(name, path)
module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
loader.exec_module(module); {SHOW}
""",
    ),
    _a(
        "loads-an-sqlite-extension",
        f"""
import sqlite3
sqlite3.connect(":memory:").enable_load_extension(True); {SHOW}
""",
        control=Control.NATIVE,
    ),
    _a(
        "raises-its-limits",
        f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU)); {SHOW}
""",
    ),
    _a(
        "opens-the-terminal",
        f"""
import termios
if termios.TIOCSTI: {SHOW}
""",
    ),
    _a(
        "crashes-the-interpreter-with-crafted-bytecode",
        """
import types
def f(): pass
code = f.__code__.replace(co_code=bytes([100, 255]) * 40, co_consts=())
exec(code.replace(co_code=bytes([124, 250, 124, 251, 83, 0]) * 4))
exec(code)
import sys
sys.setrecursionlimit(2**31 - 1)
def g(): g()
g()
""",
        control=Control.CRASHES,
        statuses=CRASH,
    ),
    _a(
        "crashes-the-interpreter-with-a-null-pointer",
        """
import faulthandler
faulthandler._sigsegv()
import ctypes
""",
        control=Control.CRASHES,
        statuses=CRASH,
    ),
    _a(
        "aborts-the-process",
        """
import os
os.abort()
""",
        control=Control.CRASHES,
        statuses=CRASH,
    ),
    _a(
        "starts-a-process-from-javascript",
        """
import { execSync } from "child_process";
if (execSync("echo x").length) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "starts-a-worker-from-javascript",
        """
import { Worker } from "worker_threads";
new Worker("1", { eval: true }).on("exit", () => console.log("REA" + "CHED"));
""",
        **JS,
    ),
    _a(
        "compiles-webassembly-from-javascript",
        """
new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "loads-a-native-addon-from-javascript",
        """
if (typeof process.dlopen === "function") console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "reaches-process-binding-from-javascript",
        """
if (process.binding("fs")) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "kills-a-process-from-javascript",
        """
process.kill(process.pid, 0); console.log("REA" + "CHED");
""",
        **JS,
    ),
]
