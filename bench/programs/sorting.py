"""Sorting with and without a key."""


def work():
    values = [i * 7919 % 100_003 for i in range(12_000)]
    rows = [(value % 100, str(value)) for value in values]
    by_text = sorted(rows, key=lambda row: (row[1], row[0]))
    return sorted(values)[100] + len(by_text[7][1]) + sorted(values, reverse=True)[5]
