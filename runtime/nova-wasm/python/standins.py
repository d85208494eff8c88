"""Stand-ins for ``socket``, ``ssl`` and ``subprocess``, seen by the standard library only.

asyncio, http.client, urllib.request, logging.handlers and socketserver name them at import.
They are imported while the snapshot is made, with these modules in ``sys.modules``; afterwards
the stand-ins are taken out again, so that ``import socket`` in a program fails with its reason
while ``urllib.request.urlopen`` fails when it is used, as an OSError that its callers expect.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn

from _nova_guest.absent import ABSENT, sentence


def refuse(what: str, module: str) -> NoReturn:
    """Raises:
    PermissionError: always; it is an OSError, which callers of sockets and processes handle.
    """
    raise PermissionError(errno.EPERM, sentence(what, ABSENT[module]))


def _network(*args: Any, **options: Any) -> NoReturn:
    refuse("network access", "socket")


def _process(*args: Any, **options: Any) -> NoReturn:
    refuse("starting a program", "subprocess")


def _socket_module() -> ModuleType:
    module = ModuleType("socket", "Stand-in: there is no network in the WASM runtime.")

    class Socket:
        def __init__(self, *args: Any, **options: Any) -> None:
            _network()

        def sendmsg(self, *args: Any) -> NoReturn:
            _network()

    Socket.__name__ = Socket.__qualname__ = "socket"
    Socket.__module__ = "socket"
    vars(module).update(
        socket=Socket,
        SocketType=Socket,
        error=OSError,
        herror=type("herror", (OSError,), {"__module__": "socket"}),
        gaierror=type("gaierror", (OSError,), {"__module__": "socket"}),
        timeout=TimeoutError,
        has_ipv6=False,
        _GLOBAL_DEFAULT_TIMEOUT=object(),
        AF_UNSPEC=0,
        AF_INET=2,
        AF_INET6=10,
        SOCK_STREAM=1,
        SOCK_DGRAM=2,
        SOL_SOCKET=1,
        SO_REUSEADDR=2,
        SO_ERROR=4,
        SO_BROADCAST=6,
        SO_KEEPALIVE=9,
        IPPROTO_TCP=6,
        IPPROTO_UDP=17,
        IPPROTO_IPV6=41,
        TCP_NODELAY=1,
        SHUT_RD=0,
        SHUT_WR=1,
        SHUT_RDWR=2,
        SOMAXCONN=128,
        AI_PASSIVE=1,
        AI_ADDRCONFIG=32,
        NI_NUMERICHOST=1,
        NI_NUMERICSERV=2,
        gethostname=lambda: "localhost",
        getfqdn=lambda name="": name or "localhost",
        getdefaulttimeout=lambda: None,
    )
    for name in (
        "create_connection create_server socketpair fromfd getaddrinfo getnameinfo "
        "gethostbyname gethostbyaddr inet_pton inet_ntop"
    ).split():
        setattr(module, name, _network)
    return module


def _ssl_module() -> ModuleType:
    """Enough for ``http.client`` to define HTTPS, so that ``https:`` fails at the connection."""
    module = ModuleType("ssl", "Stand-in: there is no network in the WASM runtime.")

    class SSLContext:
        check_hostname = True
        post_handshake_auth = None

        def set_alpn_protocols(self, protocols: object) -> None:
            """Nothing will ever be negotiated."""

    vars(module).update(SSLContext=SSLContext, _create_default_https_context=SSLContext)
    return module


def _subprocess_module() -> ModuleType:
    module = ModuleType("subprocess", "Stand-in: programs cannot start other programs.")

    class SubprocessError(Exception):
        pass

    class CalledProcessError(SubprocessError):
        pass

    class TimeoutExpired(SubprocessError):
        pass

    vars(module).update(
        SubprocessError=SubprocessError,
        CalledProcessError=CalledProcessError,
        TimeoutExpired=TimeoutExpired,
        PIPE=-1,
        STDOUT=-2,
        DEVNULL=-3,
    )
    for name in ("Popen", "run", "call", "check_call", "check_output"):
        setattr(module, name, _process)
    return module


@contextmanager
def importable(*names: str) -> Iterator[None]:
    """Lets the standard library import the named stand-ins inside the block."""
    makers = {"socket": _socket_module, "ssl": _ssl_module, "subprocess": _subprocess_module}
    for name in names:
        sys.modules[name] = makers[name]()
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
