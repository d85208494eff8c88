"""Foreign text made safe to carry: a result is always valid UTF-8, whatever a guest sent."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` as valid Unicode: undecodable bytes and lone surrogates are shown as escapes.

    Escapes, not question marks, so that two different names stay different.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            # PEP 383: a file name's odd bytes arrive as surrogates; show the bytes.
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:
            return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
