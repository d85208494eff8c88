"""The commands of ``nova``, as typer sees them."""

from __future__ import annotations

import typer

from nova_desktop.cli.doctor import doctor
from nova_desktop.cli.prompt import prompt
from nova_desktop.cli.run import run
from nova_desktop.cli.version import version

app = typer.Typer(
    name="nova",
    help="Runs code you did not write on your own computer: safely, visibly, without Docker.",
    no_args_is_help=True,
    # An error has one form, ours: typer's own would print a page of source.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(doctor)
app.command()(prompt)
app.command()(version)

COMMANDS = frozenset({"run", "doctor", "prompt", "version"})
