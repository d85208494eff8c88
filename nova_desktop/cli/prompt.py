"""``nova prompt``: what to tell a language model that writes programs for this sandbox."""

from __future__ import annotations


def prompt() -> None:
    """Print ten lines that tell an AI model what this sandbox has and lacks."""
    from nova_desktop.engine import Engine

    with Engine.open() as engine:
        print(engine.describe_sandbox())
