"""Rows of figures, as plain text or as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    value: float | None
    """In the section's unit; None: not available, and ``note`` says why."""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "note": self.note}


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    unit: str
    rows: Sequence[Row]
    baseline: str = ""
    """Name of the row that the others are compared with; empty: no ratios."""
    remarks: Sequence[str] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "unit": self.unit,
            "baseline": self.baseline,
            "rows": [row.to_json() for row in self.rows],
            "remarks": list(self.remarks),
        }

    def lines(self) -> list[str]:
        base = next((row.value for row in self.rows if row.name == self.baseline), None)
        width = max(len(row.name) for row in self.rows)
        lines = [self.title, "-" * len(self.title)]
        for row in self.rows:
            if row.value is None:
                lines.append(f"{row.name:<{width}}  not available: {row.note}")
                continue
            ratio = f"  {row.value / base:8.2f} x" if base else ""
            note = f"  {row.note}" if row.note else ""
            lines.append(f"{row.name:<{width}}  {_figure(row.value):>10} {self.unit}{ratio}{note}")
        if base:
            lines.append(f"(x: compared with {self.baseline})")
        return [*lines, *self.remarks, ""]


def _figure(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def median_row(name: str, samples: Sequence[float]) -> Row:
    """The median, with the range in which nine of ten samples lie."""
    ordered = sorted(samples)
    low, high = ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]
    return Row(name, statistics.median(ordered), f"({_figure(low)} to {_figure(high)})")
