"""Makes nova-run.svg, the picture in the README, from a real run in a real terminal.

    .venv/bin/python docs/images/nova_run.py

POSIX only: it types the answer into a pseudo-terminal.
"""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS = 92
QUESTION = b"leave the folder as it is: "
THEME = TerminalTheme(
    (24, 28, 34),
    (214, 219, 226),
    [(72, 79, 88), (240, 113, 103), (126, 194, 107), (229, 181, 93)] + [(120, 170, 220)] * 4,
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "sales"
        work.mkdir()
        for name in ("sales.csv", "report.py"):
            shutil.copy(ROOT / "examples" / "sales" / name, work / name)
        command = ["run", "sales/report.py", "--work", "sales"]
        # Once unseen, so that the picture does not show the first start's progress line.
        os.environ["PYTHONPATH"] = str(ROOT)
        _in_terminal(folder, [*command, "--write", "no"])
        seen = _in_terminal(folder, command)
    screen = f"\x1b[1m$ nova {' '.join(command)}\x1b[0m\n{seen}"
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), color_system="truecolor")
    console.print(Text.from_ansi(screen.rstrip()))
    console.print()  # the last line's underscores need the room
    # The usual template fetches a font from a server each time somebody looks at the picture.
    template = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    template = re.sub(r"<!--.*?-->", "", template, flags=re.DOTALL)
    # Without this some viewers drop the spaces at the beginning of a coloured piece.
    template = template.replace("<svg ", '<svg xml:space="preserve" ', 1)
    svg = console.export_svg(title="nova run", theme=THEME, code_format=template, unique_id="nova")
    (HERE / "nova-run.svg").write_text(svg, encoding="utf-8")


def _in_terminal(folder: str, arguments: list[str]) -> str:
    """What ``nova`` shows in a terminal where somebody answers its question with yes."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-m", "nova_desktop", *arguments])  # noqa: S606
    seen = b""
    answered = False
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # EIO: it closed its side
            break
        if not piece:
            break
        seen += piece
        if QUESTION in seen and not answered:
            answered = True
            os.write(terminal, b"allow\n")
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = seen.decode().replace("\r\n", "\n")
    if status != 0:
        sys.exit(f"the run ended with {status}:\n{text}")
    return text


if __name__ == "__main__":
    main()
