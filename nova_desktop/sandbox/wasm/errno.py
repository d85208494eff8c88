"""The error numbers of ``wasi_snapshot_preview1`` and the exceptions that carry them.

Inside the host a failing call raises; ``wasi_state.answers_errno`` turns the exception into
the number that the guest sees. So no caller can forget to look at a returned number.
"""

from __future__ import annotations

import enum


class Errno(enum.IntEnum):
    """All 77 values, in the order of the specification's ``errno`` enumeration."""

    SUCCESS = 0
    TOOBIG = 1
    """``2big`` in the specification, which is not a Python name."""
    ACCES = 2
    ADDRINUSE = 3
    ADDRNOTAVAIL = 4
    AFNOSUPPORT = 5
    AGAIN = 6
    ALREADY = 7
    BADF = 8
    BADMSG = 9
    BUSY = 10
    CANCELED = 11
    CHILD = 12
    CONNABORTED = 13
    CONNREFUSED = 14
    CONNRESET = 15
    DEADLK = 16
    DESTADDRREQ = 17
    DOM = 18
    DQUOT = 19
    EXIST = 20
    FAULT = 21
    FBIG = 22
    HOSTUNREACH = 23
    IDRM = 24
    ILSEQ = 25
    INPROGRESS = 26
    INTR = 27
    INVAL = 28
    IO = 29
    ISCONN = 30
    ISDIR = 31
    LOOP = 32
    MFILE = 33
    MLINK = 34
    MSGSIZE = 35
    MULTIHOP = 36
    NAMETOOLONG = 37
    NETDOWN = 38
    NETRESET = 39
    NETUNREACH = 40
    NFILE = 41
    NOBUFS = 42
    NODEV = 43
    NOENT = 44
    NOEXEC = 45
    NOLCK = 46
    NOLINK = 47
    NOMEM = 48
    NOMSG = 49
    NOPROTOOPT = 50
    NOSPC = 51
    NOSYS = 52
    NOTCONN = 53
    NOTDIR = 54
    NOTEMPTY = 55
    NOTRECOVERABLE = 56
    NOTSOCK = 57
    NOTSUP = 58
    NOTTY = 59
    NXIO = 60
    OVERFLOW = 61
    OWNERDEAD = 62
    PERM = 63
    PIPE = 64
    PROTO = 65
    PROTONOSUPPORT = 66
    PROTOTYPE = 67
    RANGE = 68
    ROFS = 69
    SPIPE = 70
    SRCH = 71
    STALE = 72
    TIMEDOUT = 73
    TXTBSY = 74
    XDEV = 75
    NOTCAPABLE = 76


class WasiError(Exception):
    """A call failed in a way that the specification foresees."""

    def __init__(self, errno: Errno) -> None:
        super().__init__(errno.name)
        self.errno = errno


class RefusedCall(WasiError):
    """A call that the sandbox refuses by design: answered with an errno and recorded.

    ``rule`` is one of the names in ``denied.py``; ``target`` is what the guest named.
    """

    def __init__(self, errno: Errno, rule: str, target: bytes | str) -> None:
        super().__init__(errno)
        self.rule = rule
        self.target = target
