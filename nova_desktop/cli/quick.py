"""The usual forms of ``nova run`` without loading typer, which takes longer than the run.

Only what is understood completely is taken: ``--option value``, ``--option=value``, flags, the
file, and arguments after ``--``. Anything else (``--help``, a misspelt option, a missing value,
combined short options) gives None, and typer explains it. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nova_desktop.cli.consent import Write
from nova_desktop.cli.running import RunOptions

_VALUES = {
    "--language": ("language", str),
    "-l": ("language", str),
    "--work": ("work", Path),
    "-w": ("work", Path),
    "--write": ("write", Write),
    "--timeout": ("timeout_s", float),
    "--memory": ("memory", str),
    "--timezone": ("timezone", str),
    "--runtime": ("runtime", str),
}
_FLAGS = {
    "--json": ("as_json", True),
    "--raw": ("raw", True),
    "--stdin": ("stdin", True),
    "--no-stdin": ("stdin", False),
}


def quick_options(arguments: Sequence[str]) -> RunOptions | None:
    """The options of a plain ``run`` command line; None when typer has to look at it."""
    if not arguments or arguments[0] != "run":
        return None
    words = list(arguments[1:])
    options: dict[str, Any] = {}
    positional: list[str] = []
    environment: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            positional += words
            break
        if word == "-" or not word.startswith("-"):
            positional.append(word)
        elif word in _FLAGS:
            name, flag = _FLAGS[word]
            options[name] = flag
        else:
            option, equals, value = word.partition("=")
            if not equals or not option.startswith("--"):
                if not words:
                    return None
                option, value = word, words.pop(0)
            if option == "--env":
                environment.append(value)
            elif option in _VALUES:
                name, convert = _VALUES[option]
                try:
                    options[name] = convert(value)
                except ValueError:
                    return None
            else:
                return None
    return RunOptions(
        file=positional[0] if positional else None,
        arguments=tuple(positional[1:]),
        environment=tuple(environment),
        **options,
    )
