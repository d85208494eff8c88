"""``nova run``: its options, in words. What it does is in ``running``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nova_desktop.cli.consent import Write
from nova_desktop.cli.running import RunOptions, run_program
from nova_desktop.model import Language, RuntimeName


def run(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|-]",
            help="The program: a file, a file inside --work, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- ARGS]",
            help="What the program finds in sys.argv or process.argv.",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="python|javascript|bash",
            help="Needed where the file's suffix does not tell it.",
            autocompletion=lambda: list(Language),
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            "-w",
            metavar="DIR|FILE",
            help="The folder or file that the program sees, as /work. It works on a copy. "
            "Nothing else of your machine is visible to it, not even the program's own folder.",
            show_default=False,
        ),
    ] = None,
    write: Annotated[
        Write,
        typer.Option(
            help="Whether changes go back into --work. ask needs a terminal; without one, "
            "nothing is written.",
        ),
    ] = Write.ASK,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long it may run.", show_default="30"),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for the program, its files and its output together.",
            show_default="512M",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An environment variable; may be repeated. None of yours is passed on.",
        ),
    ] = None,
    timezone: Annotated[
        str,
        typer.Option(metavar="ZONE", help="The program's local time, like Europe/Berlin."),
    ] = "UTC",
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin/--no-stdin",
            help="Whether what is piped into nova is the program's standard input.",
        ),
    ] = True,
    runtime: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(RuntimeName),
            help="What isolates the program. local isolates nothing and needs "
            "NOVA_SANDBOX_ALLOW_LOCAL=1 as well.",
            autocompletion=lambda: list(RuntimeName),
            show_default="wasm",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, and nothing else.")
    ] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="Pass the program's bytes to the terminal as they are, harmful or not."
        ),
    ] = False,
) -> int:
    """Run a program you did not write, safely.

    It sees the folder named with --work as /work, a copy in memory, and nothing else: no other
    file, no network, no other process. When it is over, you see what it wants to change and
    decide.

    Examples:

      nova run report.py --work ~/sales

      nova run clean.py --work notes.txt --write yes

      nova run convert.js --work photos -- --width 800

      echo 'print(6 * 7)' | nova run -l python

    Exit codes: 0 it ended well; 1 it failed; 2 wrong usage; 3 refused, or a change could not be
    written; 4 runtime not available; 5 a limit was hit; 70 a fault of Nova; 130 stopped by you.
    """
    return run_program(
        RunOptions(
            file=file,
            arguments=tuple(arguments or ()),
            language=language,
            work=work,
            write=write,
            timeout_s=timeout,
            memory=memory,
            environment=tuple(env or ()),
            timezone=timezone,
            stdin=stdin,
            runtime=runtime,
            as_json=as_json,
            raw=raw,
        )
    )
