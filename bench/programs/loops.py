"""Bare loops over small integers."""


def work():
    total = 0
    for i in range(600):
        for j in range(600):
            if (i ^ j) & 3:
                total += i * j - j
    return total
