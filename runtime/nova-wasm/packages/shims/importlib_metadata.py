"""The backport's name for what the standard library has; pygal imports it by this name."""

from importlib.metadata import *  # noqa: F403
