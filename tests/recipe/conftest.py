"""The recipe of the guests is no part of the package: ``runtime/nova-wasm`` joins the path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime" / "nova-wasm"))
