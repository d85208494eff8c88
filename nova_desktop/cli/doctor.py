"""``nova doctor``: what works here, why the rest does not, and how much room we use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from nova_desktop.cli.units import size_in_words

if TYPE_CHECKING:
    from rich.table import Table

    from nova_desktop.engine.health import Health

UNAVAILABLE = 4


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, and nothing else.")
    ] = False,
) -> int:
    """Show what works on this machine, why the rest does not, and what to do about it.

    The first time, it prepares the guests, which takes some seconds.
    """
    from nova_desktop.cli.terminal import ProgressLine
    from nova_desktop.engine import Engine

    progress = ProgressLine()
    with Engine.open() as engine:
        health = engine.health(on_progress=progress)
    progress.clear()
    if as_json:
        print(json.dumps(health.to_json()))
    else:
        _show(health)
    return 0 if health.well else UNAVAILABLE


def _show(health: Health) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    for table in (_runtimes(health), _versions(health), _disk(health), _packages(health)):
        console.print(table)
        console.print()


def _table(title: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _runtimes(health: Health) -> Table:
    table = _table("Runtimes", "name", "state", "languages or reason", "what to do")
    for runtime in health.runtimes:
        state = "available" if runtime.available else "not available"
        if runtime.available and not runtime.sandboxed:
            state = "available, NOT SANDBOXED"
        about = "; ".join(filter(None, [", ".join(runtime.languages), runtime.reason]))
        table.add_row(runtime.name, state, about, runtime.remedy)
    return table


def _versions(health: Health) -> Table:
    table = _table("Versions", "of", "version")
    for name, value in health.versions.items():
        table.add_row(name, value)
    return table


def _disk(health: Health) -> Table:
    table = _table("Folders", "of", "path", "room used")
    for name, path in health.paths.items():
        table.add_row(name, path, size_in_words(health.disk_bytes[name]))
    return table


def _packages(health: Health) -> Table:
    table = _table("Library pack (import them in Python programs)", "name", "version", "licence")
    for package in health.packages:
        table.add_row(package.name, package.version, package.licence)
    return table
