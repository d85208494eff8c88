"""The program's standard input: read whole before the run, as the guest cannot wait for more."""

from __future__ import annotations

import sys
import threading

from nova_desktop.cli.terminal import is_terminal
from nova_desktop.model import InvalidRequest

NOTICE_AFTER_S = 1.0


def read_piped_input(limit: int) -> bytes | None:
    """What is piped or redirected into us; None when it is a terminal or holds nothing.

    An empty input is the same to the program (its reads end at once), and None lets ``input()``
    explain itself.

    Raises:
        InvalidRequest: more than ``limit`` bytes.
    """
    if sys.stdin is None or is_terminal(sys.stdin):
        return None
    # A pipe that nobody closes would make us wait for ever without a word.
    notice = threading.Timer(NOTICE_AFTER_S, _say_what_we_wait_for)
    notice.daemon = True
    notice.start()
    try:
        content = sys.stdin.buffer.read(limit + 1)
    finally:
        notice.cancel()
    if len(content) > limit:
        raise InvalidRequest(
            "request.stdin_too_large",
            f"Standard input is longer than {limit:,} bytes, the run's memory limit.",
            "Raise --memory, or put the data in a folder and name it with --work.",
        )
    return content or None


def _say_what_we_wait_for() -> None:
    sys.stderr.write(
        "nova: waiting for standard input to end (--no-stdin runs the program without it)\n"
    )
    sys.stderr.flush()
