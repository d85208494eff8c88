"""Writes ``TABLE.md``: ``python -m tests.attack.table``."""

from __future__ import annotations

from pathlib import Path

from tests.attack.attack import Control
from tests.attack.raw_attacks import MODULE_ATTACKS, RAW_ATTACKS
from tests.attack.registry import ATTACKS

TABLE = Path(__file__).with_name("TABLE.md")

HEAD = """# Attacks

Every attack by name, what shows that it could succeed, and where it is tried. Written by
`python -m tests.attack.table` from the registry beside it; a test fails when the two differ,
when two attacks share a name or a program, or when one has no control.

An attack's program prints a mark only when it reached its aim. In the sandbox the mark, and a
secret planted on the host, must never appear; the host folder it may have aimed at must be
untouched, its listener unvisited, and CPU time and peak memory of the host process stay within
the run's limits. Native controls run as an ordinary user in private user, network, IPC and
process namespaces.

"""


NAMES = [
    *(attack.name for attack in ATTACKS),
    *(attack.name for attack in RAW_ATTACKS),
    *(attack.name for attack in MODULE_ATTACKS),
]


def render() -> str:
    lines = [HEAD, f"{len(NAMES)} attacks.\n"]
    group = ""
    for attack in ATTACKS:
        if attack.group != group:
            group = attack.group
            lines.append(
                f"\n## {group.capitalize()}\n\n| attack | language | control | tried in |\n"
                "|---|---|---|---|\n"
            )
        lines.append(
            f"| {attack.name} | {attack.language} | {attack.control.value} | wasm runtime |\n"
        )
    lines.append(
        "\n## Host calls\n\n| attack | language | control | tried in |\n|---|---|---|---|\n"
    )
    lines.extend(
        f"| {name} | WebAssembly | {Control.VALID_CALL.value} | wasm runtime |\n"
        for name in NAMES[len(ATTACKS) :]
    )
    return "".join(lines)


if __name__ == "__main__":
    TABLE.write_text(render(), encoding="utf-8")
