"""Nova Desktop: runs code its owner did not write, safely and visibly, without Docker.

The rooms of this package, top to bottom. Each imports only rooms below it (``lint-imports``
holds that), so the order is the architecture:

``cli``       a front end: turns a command line into one ``Engine`` call; holds no rules
``engine``    the whole API of the product; ``assemble`` is the only file that builds the parts
``execute``   code.execute: request, workspace, change plan, choice of runtime
``sandbox``   how foreign code runs; knows nothing of who asked or why
``policy``    pure values in, decision out
``hostfs``    the only code that touches a path somebody else chose
``settings``  where our own files live, and what the owner set
``model``     frozen dataclasses, enums, errors; standard library only
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Engine", "ExecutionRequest", "ExecutionResult", "NovaError", "__version__"]

if TYPE_CHECKING:
    from nova_desktop.engine import Engine
    from nova_desktop.model import ExecutionRequest, ExecutionResult, NovaError


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that ``import nova_desktop`` costs nothing."""
    if name == "Engine":
        from nova_desktop.engine import Engine

        return Engine
    if name in {"ExecutionRequest", "ExecutionResult", "NovaError"}:
        from nova_desktop import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
