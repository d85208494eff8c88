"""What the exit code of ``nova`` means. Stable: scripts rely on it.

==== ==============================================================================
0    the program ran and ended well
1    the program itself failed
2    the command line or the request makes no sense
3    refused by a rule, or a change that was wanted could not be written
4    the runtime is not available here
5    a limit was hit: time, memory, output, stack
70   our own fault (``EX_SOFTWARE`` of sysexits.h)
130  stopped by its owner, as shells count it: 128 + SIGINT
==== ==============================================================================

The program's own code never becomes ours, or its 3 would read as our "refused". It is shown,
and it is ``exit_code`` in the JSON.
"""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType
from typing import Final

from nova_desktop.model import ExecutionResult, Status

OK: Final = 0
USAGE: Final = 2
REFUSED: Final = 3
INTERNAL: Final = 70
STOPPED: Final = 130

OF_STATUS: Final = MappingProxyType(
    {
        Status.FINISHED: OK,
        Status.FAILED: 1,
        Status.DENIED: REFUSED,
        Status.TIMED_OUT: 5,
        Status.OUT_OF_MEMORY: 5,
        Status.LIMIT: 5,
        Status.STOPPED: STOPPED,
        Status.ENGINE_ERROR: INTERNAL,
    }
)


def exit_code_of(result: ExecutionResult, *, wanted: Collection[str] = ()) -> int:
    """The command's exit code.

    ``wanted``: paths whose change the owner allowed. One that was withheld all the same must
    not look like success to a script, nor must a program that ended well whose changes could not
    be told or written.
    """
    code = OF_STATUS[result.status]
    if code == OK and result.error is not None and result.error.code == "run.stopped":
        return STOPPED  # between the program's end and the writing
    if code == OK and (
        result.error is not None or any(note.path in wanted for note in result.withheld)
    ):
        return REFUSED
    return code
