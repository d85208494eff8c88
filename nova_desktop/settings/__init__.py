"""Where our own files live, and what the owner set."""

from nova_desktop.settings.environment import RuntimeSettings
from nova_desktop.settings.paths import Paths, private_folder

__all__ = ["Paths", "RuntimeSettings", "private_folder"]
