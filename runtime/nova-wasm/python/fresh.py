"""What each run must have of its own, because the snapshot would otherwise repeat it."""

from __future__ import annotations

import logging
import os
import posix
import random
import time

import _nova

from _nova_guest.pristine import builtins as __builtins__  # noqa: F401 - see pristine

_SEED_BYTES = 32

_seed = random.Random.__base__.seed
_urandom = os.urandom


def reseed() -> None:
    """Seed the one generator of the random module that every user shares.

    ``random.seed()`` would read 2,500 bytes in ten host calls; 256 bits are as unpredictable.
    ``uuid``, ``secrets``, ``os.urandom`` and new ``random.Random`` objects ask the host anyway;
    SQLite's generator is reset by the C embedding.
    """
    _seed(random._inst, int.from_bytes(_urandom(_SEED_BYTES)))


def load_environment() -> None:
    """Replace the (empty) environment of the snapshot by the run's own."""
    environment = {}
    for line in _nova.environ():
        name, separator, value = line.partition(b"=")
        if separator:
            environment[name] = value
    posix.environ.clear()
    posix.environ.update(environment)
    os.environ._data.clear()
    os.environ._data.update(environment)


_YEAR_SECONDS = 365 * 86_400 + 6 * 3_600


def set_timezone(tzif: bytes) -> None:
    """Give libc the zone, and the time module the names it computes only at its import.

    The computation is that of CPython's ``init_timezone``: two moments half a year apart, the
    standard time being the one further west.
    """
    _nova.set_timezone(tzif)
    if not tzif:
        return
    january_seconds = int(time.time()) // _YEAR_SECONDS * _YEAR_SECONDS
    january = time.localtime(january_seconds)
    july = time.localtime(january_seconds + _YEAR_SECONDS // 2)
    southern = january.tm_gmtoff > july.tm_gmtoff
    standard, summer = (july, january) if southern else (january, july)
    time.timezone, time.altzone = -standard.tm_gmtoff, -summer.tm_gmtoff
    time.daylight = int(standard.tm_gmtoff != summer.tm_gmtoff)
    time.tzname = (standard.tm_zone, summer.tm_zone)


def start_clocks() -> None:
    """``relativeCreated`` of log records counts from here, not from the making of the snapshot."""
    logging._startTime = time.time_ns()
