"""``nova prompt``: what to tell a language model that writes programs for this sandbox."""

from __future__ import annotations


def prompt() -> None:
    """Print ten lines that tell an AI model what this sandbox has and lacks."""
    from nova_desktop.execute.prompt import prompt_lines

    for line in prompt_lines():
        print(line)
