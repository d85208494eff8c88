"""Reads a year of orders and writes a report and a chart beside them.

It also tries, openly, four things that a program you did not write might try in secret. Run it
with `nova run report.py --work .` and see which of them works.
"""

import csv
import os
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from textwrap import shorten
from xml.sax.saxutils import escape

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
COLOURS = ("#2f6f8f", "#e0a030", "#7aa65a", "#b0553f")
RESULTS = Path("results")


def main() -> None:
    orders = read_orders(Path("sales.csv"))
    by_region_and_month = revenue_by_region_and_month(orders)

    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "report.md").write_text(report(orders), encoding="utf-8")
    (RESULTS / "revenue.svg").write_text(chart(by_region_and_month), encoding="utf-8")

    values = [order["revenue"] for order in orders]
    print(f"{len(orders):,} orders, {sum(values):,.2f} EUR in all")
    print(f"median order {statistics.median(values):.2f} EUR, largest {max(values):.2f} EUR")
    print("wrote results/report.md and results/revenue.svg")
    print()
    try_what_a_bad_program_would()


def read_orders(path: Path) -> list[dict]:
    with path.open(encoding="utf-8", newline="") as file:
        orders = list(csv.DictReader(file))
    for order in orders:
        order["month"] = int(order["date"][5:7])
        order["units"] = int(order["units"])
        order["revenue"] = order["units"] * float(order["unit_price"])
    return orders


def revenue_by_region_and_month(orders: list[dict]) -> dict[str, list[float]]:
    table: dict[str, list[float]] = defaultdict(lambda: [0.0] * 12)
    for order in orders:
        table[order["region"]][order["month"] - 1] += order["revenue"]
    return dict(sorted(table.items()))


def report(orders: list[dict]) -> str:
    values = [order["revenue"] for order in orders]
    quartiles = statistics.quantiles(values, n=4)
    lines = [
        "# Sales report",
        "",
        f"{len(orders):,} orders from {orders[0]['date']} to {orders[-1]['date']},"
        f" {sum(values):,.2f} EUR.",
        "",
        f"Half of the orders lie between {quartiles[0]:.2f} and {quartiles[2]:.2f} EUR; the"
        f" median is {quartiles[1]:.2f}, the mean {statistics.mean(values):.2f}.",
        "",
        "![Revenue by month and region](revenue.svg)",
    ]
    for title, column in (("product", "product"), ("region", "region"), ("channel", "channel")):
        revenue: Counter[str] = Counter()
        units: Counter[str] = Counter()
        for order in orders:
            revenue[order[column]] += order["revenue"]
            units[order[column]] += order["units"]
        lines += ["", f"## By {title}", "", f"| {title} | units | revenue (EUR) | share |"]
        lines.append("|---|---:|---:|---:|")
        for name, amount in revenue.most_common():
            share = amount / sum(values)
            lines.append(f"| {name} | {units[name]:,} | {amount:,.2f} | {share:.0%} |")
    return "\n".join(lines) + "\n"


def chart(table: dict[str, list[float]]) -> str:
    """Stacked bars, one a month, as SVG text."""
    width, height, left, top, bottom = 760, 380, 64, 52, 36
    step = (width - left - 20) / 12
    tallest = max(sum(months) for months in zip(*table.values(), strict=True))
    top_value = 1000 * -(-tallest // 1000)
    scale = (height - top - bottom) / top_value
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{left}" y="22" font-size="16" fill="#222">Revenue by month and region</text>',
    ]
    for fraction in (0, 0.25, 0.5, 0.75, 1):
        y = height - bottom - top_value * fraction * scale
        parts.append(
            f'<path d="M{left} {y:.1f}H{width - 20}" stroke="#ddd"/>'
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#666">'
            f"{top_value * fraction:,.0f}</text>"
        )
    for month in range(12):
        x, y = left + month * step, float(height - bottom)
        for colour, revenue in zip(COLOURS, table.values(), strict=False):
            bar = revenue[month] * scale
            y -= bar
            parts.append(
                f'<rect x="{x + step * 0.15:.1f}" y="{y:.1f}" width="{step * 0.7:.1f}"'
                f' height="{bar:.1f}" fill="{colour}"/>'
            )
        parts.append(
            f'<text x="{x + step / 2:.1f}" y="{height - 14}" text-anchor="middle" fill="#444">'
            f"{MONTHS[month]}</text>"
        )
    for index, (colour, region) in enumerate(zip(COLOURS, table, strict=False)):
        x = left + index * 90
        parts.append(
            f'<rect x="{x}" y="32" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 15}" y="41" fill="#444">{escape(region)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def try_what_a_bad_program_would() -> None:
    attempts = {
        "read your user accounts": lambda: Path("/etc/passwd").read_text(),
        "link to your home folder": lambda: os.symlink("/root", "results/home"),
        "send the orders somewhere": connect,
        "start another program": start_a_program,
    }
    print("What a bad program would try:")
    for what, attempt in attempts.items():
        try:
            attempt()
        except Exception as error:  # noqa: BLE001 - each attempt fails in its own way
            reason = shorten(f"{type(error).__name__}: {error}", 62, placeholder=" …")
            print(f"  {what:<25}  {reason}")
        else:
            print(f"  {what:<25}  IT WORKED")


def connect() -> None:
    import socket

    socket.create_connection(("127.0.0.1", 9), timeout=1)


def start_a_program() -> None:
    import subprocess

    subprocess.run(["id"], check=True)


if __name__ == "__main__":
    main()
