"""Runs one attack natively, to show that it could succeed: ``control_world.py SETTINGS``.

It is started as an ordinary user inside private user, network, IPC and process namespaces, so
what an attack does natively stays harmless. Standard library only; runs under any Python 3.
SETTINGS is a JSON file: program, language, scratch, port, node.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from pathlib import Path

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
PR_SET_NO_NEW_PRIVS = 38


def bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sH14s", b"lo", IFF_UP | IFF_RUNNING, b"")
        fcntl.ioctl(s, SIOCSIFFLAGS, request)


def listen(port: int) -> None:
    """Answer every connection on the loopback of this namespace with a small HTTP reply."""
    server = socket.create_server(("127.0.0.1", port), backlog=64)
    if os.fork():
        server.close()
        return
    while True:
        connection, _ = server.accept()
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx")
        connection.close()


def drop_privileges() -> None:
    """Give up the capabilities that being the namespace's first user brought."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("<II", 0x20080522, 0)
    if libc.capset(header, bytes(24)) or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "privileges could not be dropped")


def main() -> int:
    settings = json.loads(Path(sys.argv[1]).read_text())
    if settings["outer_uid"] == 0:
        raise SystemExit("a control never runs as root")
    bring_loopback_up()
    listen(settings["port"])
    drop_privileges()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(settings["scratch"])
    source = settings["program"].replace("@UID@", str(os.getuid()))
    suffix = ".mjs" if settings["language"] == "javascript" else ".py"
    program = Path(settings["scratch"]) / f"program{suffix}"
    program.write_text(source)
    child = os.fork()
    if child == 0:
        interpreter = settings["node"] if suffix == ".mjs" else sys.executable
        os.execv(interpreter, [interpreter, str(program), "attack-argument"])
    _, status = os.waitpid(child, 0)
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


if __name__ == "__main__":
    sys.exit(main())
