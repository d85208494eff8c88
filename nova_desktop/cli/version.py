"""``nova version``."""

from __future__ import annotations

import nova_desktop


def version() -> None:
    """Print the version."""
    print(f"nova {nova_desktop.__version__}")
