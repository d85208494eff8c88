"""All attacks that are written as guest programs, in the order of the table."""

from __future__ import annotations

from tests.attack import (
    group_endless,
    group_environment,
    group_host_paths,
    group_links,
    group_processes,
    group_recursion,
    group_resources,
    group_sockets,
    group_state,
)
from tests.attack.attack import Attack

ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for group in (
        group_environment,
        group_host_paths,
        group_links,
        group_sockets,
        group_processes,
        group_resources,
        group_recursion,
        group_endless,
        group_state,
    )
    for attack in group.ATTACKS
)
