"""The whole API of the product: ``with Engine.open() as engine``."""

from nova_desktop.engine.engine import Engine

__all__ = ["Engine"]
