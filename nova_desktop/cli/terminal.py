"""Our two output streams and the keyboard: the only file that knows what a terminal is."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
import threading
import time
from pathlib import Path
from typing import IO, TextIO

from nova_desktop.cli.foreign_text import TerminalFilter, escape_line
from nova_desktop.model import Cancellation, Stream

_ROOM_POLL_S = 0.05


def prepare_streams() -> None:
    """Make sure that showing something never ends the program.

    A console with a legacy code page shows ``\\u25cf`` where it has no ●. A stream that whoever
    started us had closed (``>&-``) leads nowhere; Python leaves None in its place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - as long as we
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def can_ask() -> bool:
    """Whether a person can read a question and type an answer."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def drop_typed_ahead() -> None:
    """Forget what was typed before the question was shown: it cannot be its answer."""
    if sys.platform == "win32":  # not os.name: mypy knows this spelling
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getch()
    else:
        import termios

        with contextlib.suppress(termios.error):  # the terminal went away: reading will tell
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


class Style:
    """Our own words in colour, where the stream is a terminal and the owner allows colours."""

    def __init__(self, stream: TextIO) -> None:
        # https://no-color.org: set to anything but the empty string.
        self._on = is_terminal(stream) and not os.environ.get("NO_COLOR")

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text

    def strong(self, text: str) -> str:
        return self._paint("1", text)

    def faint(self, text: str) -> str:
        return self._paint("2", text)

    def good(self, text: str) -> str:
        return self._paint("32", text)

    def bad(self, text: str) -> str:
        return self._paint("31", text)

    def careful(self, text: str) -> str:
        return self._paint("33", text)


class ProgressLine:
    """One line on stderr that says what takes so long; gone when there is something better.

    Nothing is shown in the first half second, nor when stderr is not a terminal. A thread
    paints it, since what takes long may report only once, when it begins. Thread-safe.
    """

    SHOWN_AFTER_S = 0.5
    EVERY_S = 0.2

    def __init__(self) -> None:
        self._enabled = is_terminal(sys.stderr)
        self._lock = threading.Lock()
        self._text = ""
        self._over: threading.Event | None = None
        """Ends the painting thread; None while there is none."""
        self._visible = False

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._enabled:
            return
        amount = f" {done:,} of {total:,}" if total > 1 else f" {done:,}" if done else ""
        with self._lock:
            self._text = f"{escape_line(what)}{amount}"
            if self._over is None:
                self._over = threading.Event()
                threading.Thread(target=self._paint, args=(self._over,), daemon=True).start()

    def clear(self) -> None:
        """Take the line away. It comes back if there is progress again."""
        with self._lock:
            if self._over is None:
                return
            self._over.set()
            self._over = None
            if self._visible:
                self._visible = False
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def _paint(self, over: threading.Event) -> None:
        started = time.monotonic()
        pause = self.SHOWN_AFTER_S
        while not over.wait(pause):
            pause = self.EVERY_S
            with self._lock:
                if not over.is_set():
                    self._visible = True
                    elapsed = f"{time.monotonic() - started:.0f} s"
                    sys.stderr.write(f"\r\x1b[K{self._text} … {elapsed}")
                    sys.stderr.flush()


class LiveOutput:
    """Shows the program's output while it runs: stdout on ours, stderr on ours.

    On a terminal it is filtered (``foreign_text``), unless ``raw``; into a file or a pipe go
    the program's own bytes. When the reader of our stdout is gone (``| head``), the run is asked
    to stop, as the system would stop a native program. A reader that only does not read (a
    pager, a terminal that is held with Ctrl-S) is waited for, but neither past a request to stop
    nor longer than ``patience_s`` in all: a run's deadline is not looked at in here.
    """

    def __init__(
        self,
        *,
        raw: bool,
        cancellation: Cancellation,
        progress: ProgressLine,
        patience_s: float = float("inf"),
    ) -> None:
        self._cancellation = cancellation
        self._patience_s = patience_s
        self._progress = progress
        self._streams = {Stream.STDOUT: sys.stdout, Stream.STDERR: sys.stderr}
        self._filters = {
            stream: TerminalFilter()
            for stream, ours in self._streams.items()
            if not raw and is_terminal(ours)
        }
        self._last_byte = b"\n"
        self.broken = False

    def __call__(self, stream: Stream, data: bytes) -> None:
        """Called on the guest's thread, so no exception may leave it."""
        if not data or self.broken:
            return
        self._progress.clear()
        if is_terminal(self._streams[stream]):
            self._last_byte = data[-1:]
        text_filter = self._filters.get(stream)
        self._write(stream, data if text_filter is None else text_filter.feed(data))

    def finish(self) -> None:
        """End what the program left open, colours and the last line: our words come next."""
        for stream, text_filter in self._filters.items():
            self._write(stream, text_filter.finish())
        if self._last_byte != b"\n":
            self._last_byte = b"\n"
            self._write(Stream.STDERR, "\n")

    def _write(self, stream: Stream, content: str | bytes) -> None:
        if self.broken or not content:
            return
        ours = self._streams[stream]
        try:
            ours.flush()
            if sys.platform == "win32":  # where one cannot ask whether there is room
                if isinstance(content, str):
                    ours.write(content)
                else:
                    ours.buffer.write(content)
                ours.flush()
            elif isinstance(content, str):
                self._write_patiently(ours, content.encode(ours.encoding, "backslashreplace"))
            else:
                self._write_patiently(ours, content)
        except OSError:
            # The reader is gone (EPIPE) or the disk is full: nobody sees what comes now.
            self.broken = True
            self._cancellation.request()

    def _write_patiently(self, ours: TextIO, content: bytes) -> None:
        """Write as long as there is room; after too long a wait what is left is dropped."""
        descriptor = ours.fileno()
        # What fits once there is room at all: PIPE_BUF of a pipe, less of a terminal.
        most = 256 if is_terminal(ours) else 4096
        left = memoryview(content)
        while left:
            while not select.select([], [descriptor], [], _ROOM_POLL_S)[1]:
                self._patience_s -= _ROOM_POLL_S
                if self._cancellation.requested or self._patience_s <= 0:
                    self.broken = True
                    return
            left = left[os.write(descriptor, left[:most]) :]
