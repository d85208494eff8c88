"""Sizes and times as people write and read them."""

from __future__ import annotations

import re

from nova_desktop.model import InvalidRequest

_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)\s*([kmg]?)(?:i?b)?", re.IGNORECASE)


def parse_size(text: str, option: str) -> int:
    """Bytes of ``512M``, ``1.5G``, ``64MiB``, ``1048576``; K, M, G are powers of 1,024.

    Raises:
        InvalidRequest: it is no size, or not greater than zero.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InvalidRequest(
            "request.bad_size",
            f"{option} is {text!r}, which is not a size.",
            "Write a number with K, M or G, like 512M.",
        )
    size = int(float(match[1]) * _FACTORS[match[2].lower()])
    if size <= 0:
        raise InvalidRequest(
            "request.bad_limit",
            f"{option} is {text!r}; a limit is greater than zero.",
            "Leave it out for the usual limit, or give a larger one.",
        )
    return size


def size_in_words(size: int) -> str:
    """``812 B``, ``2.1 KiB``, ``34 MiB``."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1023.5 or unit == "GiB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def time_in_words(milliseconds: float) -> str:
    """``0.6 ms``, ``42 ms``, ``1.3 s``."""
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s"
