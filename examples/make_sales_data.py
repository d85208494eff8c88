"""Writes sales/sales.csv: 3,600 invented orders of one year, the same bytes on every machine."""

from __future__ import annotations

import csv
import datetime
import random
from pathlib import Path

PRODUCTS = {
    "Espresso beans 1 kg": 18.90,
    "Filter coffee 500 g": 8.40,
    "Green tea 100 g": 6.20,
    "Oat biscuits": 3.10,
    "Hand grinder": 49.00,
    "Pour-over set": 36.50,
}
REGIONS = {"North": 1.0, "East": 0.7, "South": 1.3, "West": 0.9}
CHANNELS = ("shop", "web", "phone")
ORDERS = 3600


def main() -> None:
    # Invented data, not secrets. random() is the only method whose sequence Python promises to
    # keep between versions.
    draw = random.Random(2024).random
    first_day = datetime.date(2024, 1, 1)
    rows = []
    while len(rows) < ORDERS:
        day = first_day + datetime.timedelta(days=int(draw() * 366))
        region = list(REGIONS)[int(draw() * len(REGIONS))]
        # More is sold towards Christmas, and in the larger regions.
        if draw() * 2.0 > REGIONS[region] * (0.8 + day.month / 20):
            continue
        product = list(PRODUCTS)[int(draw() ** 1.5 * len(PRODUCTS))]
        units = 1 + int(draw() ** 3 * 12)
        discount = 0.1 if units >= 8 else 0.0
        price = f"{PRODUCTS[product] * (1 - discount):.2f}"
        rows.append(
            (day.isoformat(), region, CHANNELS[int(draw() ** 2 * 3)], product, units, price)
        )
    rows.sort()
    target = Path(__file__).parent / "sales" / "sales.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("order", "date", "region", "channel", "product", "units", "unit_price"))
        writer.writerows((number, *row) for number, row in enumerate(rows, start=1))


if __name__ == "__main__":
    main()
