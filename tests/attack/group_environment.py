"""Ambient facts of the host: environment, names, command line, build paths."""

from __future__ import annotations

from nova_desktop.model import Language
from tests.attack.attack import SHOW, Group

_a = Group("environment")


ATTACKS = [
    _a(
        "reads-a-host-variable-from-os-environ",
        f"""
import os
if "NOVA_ATTACK_CANARY" in os.environ: {SHOW}
""",
    ),
    _a(
        "reads-a-host-variable-from-posix-environ",
        f"""
import posix
if b"NOVA_ATTACK_CANARY" in posix.environ or "NOVA_ATTACK_CANARY" in posix.environ: {SHOW}
""",
    ),
    _a(
        "reads-the-environment-through-proc",
        f"""
if b"NOVA_ATTACK_CANARY" in open("/proc/self/environ", "rb").read(): {SHOW}
""",
    ),
    _a(
        "reads-the-environment-of-the-parent-through-a-shell",
        f"""
import os
if "NOVA_ATTACK_CANARY" in os.popen("env").read(): {SHOW}
""",
    ),
    _a(
        "reads-a-host-variable-from-javascript",
        """
if (process.env.NOVA_ATTACK_CANARY !== undefined) console.log("REA" + "CHED");
""",
        language=Language.JAVASCRIPT,
    ),
    _a(
        "finds-the-host-command-line-in-orig-argv",
        f"""
import sys
if any("attack-argument" in a for a in getattr(sys, "orig_argv", [])): {SHOW}
""",
    ),
    _a(
        "finds-the-host-command-line-through-proc",
        f"""
if b"attack-argument" in open("/proc/self/cmdline", "rb").read(): {SHOW}
""",
    ),
    _a(
        "learns-the-host-name",
        f"""
import platform, os
names = {{platform.node(), os.uname().nodename}}
if "@HOSTNAME@" in names: {SHOW}
""",
    ),
    _a(
        "learns-the-host-name-from-a-socket-call",
        f"""
import socket
if socket.gethostname() == "@HOSTNAME@": {SHOW}
""",
    ),
    _a(
        "learns-the-kernel-version",
        f"""
import os
if os.uname().release == "@KERNEL@": {SHOW}
""",
    ),
    _a(
        "learns-the-user-id",
        f"""
import os
if os.getuid() == @UID@: {SHOW}
""",
    ),
    _a(
        "learns-the-user-name-from-the-password-database",
        f"""
import pwd
if pwd.getpwuid(@UID@).pw_name: {SHOW}
""",
    ),
    _a(
        "learns-host-paths-from-code-objects",
        f"""
import sys, types
found = set()
for module in list(sys.modules.values()):
    for value in list(vars(module).values()):
        if isinstance(value, types.FunctionType):
            found.add(value.__code__.co_filename)
    found.add(str(getattr(module, "__file__", "")))
known = ("/usr/lib/python3.13/", "/usr/lib/python313.", "/usr/lib/python3-", "/work", "<")
if any(name.startswith("/") and not name.startswith(known) for name in found): {SHOW}
""",
    ),
    _a(
        "learns-the-number-of-processors-from-proc",
        f"""
if "processor" in open("/proc/cpuinfo").read(): {SHOW}
""",
    ),
    _a(
        "lists-the-processes-of-the-machine",
        f"""
import os
if any(name.isdigit() for name in os.listdir("/proc")): {SHOW}
""",
    ),
]
