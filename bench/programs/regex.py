"""Regular expressions over lines of a log."""

import re

LINE = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<level>[A-Z]+)\s+(\w+)=(\d+)")


def work():
    text = "\n".join(
        f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d} {'INFO' if i % 3 else 'ERROR'} size={i * 37}"
        for i in range(4_000)
    )
    total = 0
    for match in LINE.finditer(text):
        if match["level"] == "ERROR":
            total += int(match[4])
    return total + len(re.sub(r"\d+", "#", text))
