"""``python -m nova_desktop`` and the console script ``nova``."""

from __future__ import annotations

import sys


def main() -> None:
    # Imported here, so that importing this module (as the console script does) is free.
    from nova_desktop.cli.main import run_command_line

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
