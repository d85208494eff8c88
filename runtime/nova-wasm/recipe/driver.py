"""What ``make`` and ``configure`` of foreign projects call as their C compiler.

Usage: driver.py COMMANDS.json ARGUMENT... ; the JSON file names the command that compiles and
the one that links (``toolchain.Toolchain.wrappers`` writes it). Runs without site-packages, once
per source file.
"""

import json
import os
import sys
from collections.abc import Sequence

REPLACED = {
    # Since clang 20 it implies -fwrapv-pointer, after which LLVM may not fold the offset of a
    # field into the load: every p->field becomes an extra addition.
    "-fno-strict-overflow": "-fwrapv",
}
DROPPED = {"-O0", "-O1", "-O2", "-O3", "-Os", "-g", "-z", "-Wl,--stack-first"}
DROPPED_PREFIXES = ("stack-size=", "-Wl,--initial-memory=", "-Wl,--max-memory=")
COMPILE_ONLY = {"-c", "-E", "-S", "-M", "-MM"}


def translate(arguments: Sequence[str]) -> list[str]:
    """The caller's arguments without those that our own options decide."""
    return [
        REPLACED.get(argument, argument)
        for argument in arguments
        if argument not in DROPPED and not argument.startswith(DROPPED_PREFIXES)
    ]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - started 600 times
        commands = json.load(file)
    arguments = sys.argv[2:]
    kind = "compile" if COMPILE_ONLY.intersection(arguments) else "link"
    command = [*commands[kind], *translate(arguments)]
    os.execv(command[0], command)  # noqa: S606 - a compiler driver


if __name__ == "__main__":
    main()
