"""Counting in dictionaries with string and tuple keys."""


def work():
    counts = {}
    for i in range(40_000):
        key = (i % 97, i % 89)
        counts[key] = counts.get(key, 0) + 1
        name = f"k{i % 500}"
        counts[name] = counts.get(name, 0) + i
    return sum(counts.values())
