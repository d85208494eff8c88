"""Integers of thousands of digits: products, divisions, decimal text."""


def work():
    value = 3**4_000
    total = 0
    for i in range(300):
        value = value * (i + 1_000_003) // 999_983
        total += value % 1_000_003
    product = 1
    for i in range(1, 1_200):
        product *= i
    return total + len(str(product)) + pow(3, 10**200, 10**300) % 1000
