"""Text that somebody else wrote, made safe to show on the owner's terminal.

A guest's output, a file name or a server's words may hold sequences that move the cursor, rename
the window, type answers into the keyboard buffer, or turn the reading order round so that
``exe.gpj`` reads ``jpg.exe`` (CVE-2021-42574). On a terminal everything of that kind is written
out as an escape (``\\x1b``, ``\\u202e``). A tab, a line end and colours pass.

Sources: ECMA-48 §5.4 (control sequences) and §8.3.117 (SGR), Unicode UAX #9 (bidi controls).
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_UNSAFE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 (but tab and line feed), DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi marks, embeddings, overrides, isolates
    "\u2028\u2029"  # line and paragraph separators: a line end to some terminals
    "\ud800-\udfff"  # lone surrogates: undecodable bytes of file names; cannot be encoded
    "\U000e0000-\U000e007f"  # tags: text no human sees and a language model reads
    "]"
)
_UNSAFE_IN_A_LINE: Final = re.compile(
    "[\t\n"
    # Nothing to see: "re\u200bport" reads "report". Joiners that scripts and emoji need pass.
    "\u00ad\u034f\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
    "\U000e0100-\U000e01ef"
    # Ours begins each line of foreign words. A long name wraps, and could go on with a false line.
    "\u2502"
    f"]|{_UNSAFE.pattern}"
)

_SGR: Final = re.compile(r"\x1b\[([0-9;:]*)m")
# A colour needs at most "\x1b[38:2:255:255:255;48:2:255:255:255m"; no longer tail is held back.
_LONGEST_SGR: Final = 64
_SGR_BEGINNING: Final = re.compile(r"\x1b(?:\[[0-9;:]{0,61})?\Z")
_SGR_RESET: Final = "\x1b[0m"


def escape(text: str) -> str:
    """``text`` with everything unsafe written out; tabs and line ends pass, colours do not."""
    return _UNSAFE.sub(_written_out, text)


def escape_line(text: str) -> str:
    """As ``escape``, for text that must stay on one line (a file name): no tab, no line end."""
    return _UNSAFE_IN_A_LINE.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    character = match[0]
    if (short := _SHORT.get(character)) is not None:
        return short
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_SHORT: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _shows_only_colours(parameters: str) -> bool:
    """Whether an SGR sequence sets colours, weight or underline, and nothing that hides text.

    "Conceal" (8) makes text that is copied but not seen; blinking (5, 6) and fonts (10-20) are
    no colours either.
    """
    codes = re.split("[;:]", parameters)
    position = 0
    while position < len(codes):
        code = int(codes[position] or "0")
        position += 1
        if code in {38, 48, 58}:
            # A palette index or three components: numbers that name a colour, not an effect.
            kind = codes[position] if position < len(codes) else ""
            position += 2 if kind == "5" else 4
            if kind not in {"2", "5"}:
                return False
        elif not (
            code <= 4
            or code in {7, 9, 39, 49, 59}
            or 21 <= code <= 29
            or 30 <= code <= 47
            or 90 <= code <= 107
        ):
            return False
    return True


class TerminalFilter:
    """Turns one stream of foreign bytes, piece by piece, into text that is safe to show.

    A character or a colour sequence may be split between two pieces; the beginning is held back
    until its end is known. Bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._coloured = False

    def feed(self, data: bytes) -> str:
        return self._filter(self._decoder.decode(data), final=False)

    def finish(self) -> str:
        """What was held back, and the end of any colour, so that it does not leak into ours."""
        text = self._filter(self._decoder.decode(b"", final=True), final=True)
        if self._coloured:
            self._coloured = False
            text += _SGR_RESET
        return text

    def _filter(self, text: str, *, final: bool) -> str:
        text = self._held + text
        self._held = ""
        if not final and text:
            text = self._hold_back(text)
        # A program made for Windows ends its lines with CR LF. That CR moves nothing.
        text = text.replace("\r\n", "\n")
        pieces: list[str] = []
        position = 0
        for match in _SGR.finditer(text):
            pieces.append(escape(text[position : match.start()]))
            if len(match[0]) <= _LONGEST_SGR and _shows_only_colours(match[1]):
                pieces.append(match[0])
                self._coloured = True
            else:
                pieces.append(escape(match[0]))
            position = match.end()
        pieces.append(escape(text[position:]))
        return "".join(pieces)

    def _hold_back(self, text: str) -> str:
        if text[-1] == "\r":
            beginning = len(text) - 1
        elif (match := _SGR_BEGINNING.search(text, max(0, len(text) - _LONGEST_SGR))) is not None:
            beginning = match.start()
        else:
            return text
        self._held = text[beginning:]
        return text[:beginning]
