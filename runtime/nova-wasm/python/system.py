"""Gaps of ``os``, ``hashlib``, ``threading`` and ``builtins``, filled or explained."""

from __future__ import annotations

import _datetime
import _sitebuiltins
import _thread
import builtins
import email.utils
import hashlib
import hmac
import os
import random
import sys
import threading
import time
import types
import uuid
from types import ModuleType
from typing import Any, NoReturn

from _nova_guest.absent import sentence
from _nova_guest.standins import refuse


def describe_build() -> None:
    """The module that a ``make install`` would write, which sysconfig and zoneinfo ask for."""
    name = f"_sysconfigdata_{sys.abiflags}_{sys.platform}_{sys.implementation._multiarch}"
    module = ModuleType(name)
    module.build_time_vars = {
        "EXT_SUFFIX": ".so",
        "Py_DEBUG": 0,
        "Py_GIL_DISABLED": 0,
        "SOABI": "cpython-313-wasm32-wasi",
        "TZPATH": "/usr/share/zoneinfo",
        "VERSION": "3.13",
        "prefix": "/usr",
    }
    sys.modules[name] = module


def _chmod(
    path: Any, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True
) -> None:
    """WASI has no permissions, and this libc's chmod succeeds for anything. As for most bits on
    Windows: the file must exist, that is all.
    """
    os.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)


def pbkdf2_hmac(
    hash_name: str, password: bytes, salt: bytes, iterations: int, dklen: int | None = None
) -> bytes:
    """RFC 8018, section 5.2; CPython has it from OpenSSL only, which is not in this build."""
    if not isinstance(hash_name, str):
        raise TypeError("hash_name must be a string")
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    digest_size = hashlib.new(hash_name).digest_size
    if dklen is None:
        dklen = digest_size
    if dklen < 1:
        raise ValueError("key length must be greater than 0.")
    # The two hash states that HMAC starts from are the same for every round.
    block_size = hashlib.new(hash_name).block_size
    key = bytes(memoryview(password))
    if len(key) > block_size:
        key = hashlib.new(hash_name, key).digest()
    key = key.ljust(block_size, b"\0")
    inner = hashlib.new(hash_name, key.translate(hmac.trans_36))
    outer = hashlib.new(hash_name, key.translate(hmac.trans_5C))

    def sign(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    derived = b""
    block = 0
    while len(derived) < dklen:
        block += 1
        rounds = sign(bytes(memoryview(salt)) + block.to_bytes(4, "big"))
        total = int.from_bytes(rounds, "big")
        for _ in range(iterations - 1):
            rounds = sign(rounds)
            total ^= int.from_bytes(rounds, "big")
        derived += total.to_bytes(digest_size, "big")
    return derived[:dklen]


def _scrypt(*args: Any, **options: Any) -> NoReturn:
    raise RuntimeError(sentence("hashlib.scrypt", "it needs OpenSSL; hashlib.pbkdf2_hmac is there"))


def _make_msgid(idstring: str | None = None, domain: str | None = None) -> str:
    """``email.utils.make_msgid``, which imports socket to learn the name of the machine."""
    moment, number = int(time.time() * 100), random.getrandbits(64)
    suffix = "" if idstring is None else f".{idstring}"
    return f"<{moment}.{os.getpid()}.{number}{suffix}@{domain or 'localhost'}>"


def _system(command: str) -> NoReturn:
    refuse("os.system", "subprocess")


def _no_threads(*args: Any, **options: Any) -> NoReturn:
    raise RuntimeError(
        "can't start new thread (threads are not available in the WASM runtime: "
        "call the function directly)"
    )


def fill_gaps() -> None:
    os.system = _system
    os.chmod = _chmod
    os.cpu_count = os.process_cpu_count = lambda: 1
    if not hasattr(hashlib, "pbkdf2_hmac"):
        hashlib.pbkdf2_hmac = pbkdf2_hmac
        hashlib.__all__ += ("pbkdf2_hmac",)
    if not hasattr(hashlib, "scrypt"):
        hashlib.scrypt = _scrypt
    _thread.start_new_thread = _thread.start_new = _thread.start_joinable_thread = _no_threads
    threading._start_joinable_thread = _no_threads
    email.utils.make_msgid = _make_msgid
    # The type is otherwise taken, on first use, from an object of the module _socket.
    types.CapsuleType = type(_datetime.datetime_CAPI)
    # They would start programs to learn a hardware address; without them it is a random one.
    uuid._GETTERS = []
    # The module site, which adds these for people's scripts too, is not imported here.
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.help = _sitebuiltins._Helper()
    builtins.copyright = _sitebuiltins._Printer("copyright", sys.copyright)
    builtins.credits = _sitebuiltins._Printer("credits", "See www.python.org for more information.")
    builtins.license = _sitebuiltins._Printer("license", "See https://www.python.org/psf/license/")
