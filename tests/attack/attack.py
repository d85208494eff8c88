"""What one attack is, and the small language its programs are written in.

A program prints ``REACHED`` (joined at run time, so that its own source never contains the
word) when it got what it wanted, or prints the secret itself. ``@SECRET@`` is a host file that
any user of the machine may read, ``@TARGET@`` a host folder any user may write, ``@PORT@`` a
listening loopback port. In the sandbox none of them may be reached; in the control, which runs
the same program without confinement, they must be.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from nova_desktop.model import MIB, Language, Limits, Status

REACHED = "REACHED"


class Control(enum.Enum):
    """How it is shown that the attack could succeed."""

    NATIVE = "the same program run natively reaches its aim"
    STILL_RUNNING = "the same program run natively is still running after the sandbox's limit"
    CRASHES = "the same program run natively kills its interpreter"
    SAME_RUN = "the planted state is visible later in the same run"
    OTHER_LIMIT = "the same program under a wide enough limit reaches its aim"
    NAIVE_COPY = "a naive copy of the result does the damage"
    VALID_CALL = "the same call with valid arguments succeeds"


SHORT = Limits(timeout_s=0.5, memory_bytes=96 * MIB, output_bytes=1 * MIB)
ROOMY = Limits(timeout_s=10.0, memory_bytes=96 * MIB, output_bytes=1 * MIB)

COPED = frozenset({Status.FINISHED, Status.FAILED})
ENDED = frozenset({Status.TIMED_OUT})
STARVED = frozenset({Status.FINISHED, Status.FAILED, Status.OUT_OF_MEMORY, Status.TIMED_OUT})


SHOW = 'print("REA" "CHED")'
"""Prints the mark, in Python."""

JS = {"language": Language.JAVASCRIPT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    name: str
    """Unique, a behaviour: ``reads-a-host-file-by-absolute-path``."""
    group: str
    source: str
    language: Language = Language.PYTHON
    control: Control = Control.NATIVE
    control_source: str | None = None
    """Only where the platform spells the same thing differently."""
    limits: Limits = ROOMY
    statuses: frozenset[Status] = COPED
    """How the run may end in the sandbox."""
    files: dict[str, bytes] = field(default_factory=dict)
    denied: str = ""
    """An operation that must be found in the result's ``denied``."""


class Group:
    """Makes the attacks of one group; ``defaults`` are what they share."""

    def __init__(self, name: str, **defaults: Any) -> None:
        self.name = name
        self._defaults = defaults

    def __call__(self, name: str, source: str, **more: Any) -> Attack:
        return Attack(name=name, group=self.name, source=source, **{**self._defaults, **more})
