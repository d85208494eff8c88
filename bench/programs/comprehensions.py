"""List, set, dict comprehensions and generators."""


def work():
    total = 0
    for n in range(30):
        squares = [x * x for x in range(1_500) if x % 3]
        total += sum(x for x in squares if x & 1)
        total += len({x % 101 for x in squares})
        total += len({x: x + n for x in squares})
    return total
