"""``python -m nova_desktop`` and the console script ``nova``."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # Importing makes many objects that stay and no garbage: looking for it takes a fifteenth of
    # a short run. What is there afterwards need not be looked at again.
    gc.disable()
    from nova_desktop.cli.main import run_command_line

    gc.freeze()
    gc.enable()
    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
