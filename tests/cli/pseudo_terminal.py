"""A real terminal for the tests that need one."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Terminal:
    """A Python module that runs as a child in a terminal of its own."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ["NO_COLOR"] = "1"
            os.execv(sys.executable, [sys.executable, "-m", module, *arguments])
        self.seen = ""
        self.exit_code: int | None = None

    def read_until(self, text: str, seconds: float = 20.0) -> str:
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"waited for {text!r}, saw {self.seen!r}"
            assert self._read(left), f"ended before {text!r}, saw {self.seen!r}"
        return self.seen

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def finish(self) -> str:
        while self._read(20):
            pass
        _, status = os.waitpid(self.pid, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)
        return self.seen

    def close(self) -> None:
        os.close(self.master)
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        try:
            data = os.read(self.master, 65536) if ready else b""
        except OSError:  # EIO: the child closed its side
            return False
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)
