"""What the guest does while the profile of CPython is made: ordinary programs of many kinds.

Written apart from the benchmarks (``bench``), so that these show what the profile is worth for
programs that it was not made from. Everything is deterministic.
"""

import ast
import base64
import bisect
import collections
import copy
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import heapq
import html
import io
import itertools
import json
import math
import operator
import pickle
import random
import re
import sqlite3
import statistics
import string
import struct
import textwrap
import urllib.parse
import zlib

ROUNDS = 3
rng = random.Random(1)
WORDS = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(3000)]


# --- numbers and loops ----------------------------------------------------------------------


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\0\0"
    for i in range(2, int(limit**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = bytes(len(range(i * i, limit + 1, i)))
    return sum(flags)


def longest_collatz(limit):
    best = 0
    for start in range(1, limit):
        steps, x = 0, start
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        if steps > best:
            best = steps
    return best


def mandelbrot(width):
    total = 0
    for row in range(width):
        for column in range(width):
            z = 0j
            c = complex(column / width * 3 - 2, row / width * 2 - 1)
            for k in range(30):
                z = z * z + c
                if abs(z) > 2:
                    break
            total += k
    return total


def orbit(steps):
    x, y, vx, vy = 1.0, 0.0, 0.0, 1.0
    for _ in range(steps):
        r3 = (x * x + y * y) ** 1.5
        vx -= x / r3 * 0.001
        vy -= y / r3 * 0.001
        x += vx * 0.001
        y += vy * 0.001
    return x


def points_in_lists(rounds):
    points = [[i * 0.1, i * 0.2, 0.0] for i in range(60)]
    for _ in range(rounds):
        for p in points:
            p[0] += p[1] * 0.01
            p[1] -= p[0] * 0.01
            p[2] = p[0] * p[0] + p[1] ** 2
    return points[5][2]


def matrix_product(n):
    a = [[i * j % 7 + 0.5 for j in range(n)] for i in range(n)]
    columns = [list(column) for column in zip(*a)]
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a][1][1]


def matrix_by_index(n):
    a = [[(i * 7 + j) % 11 * 0.25 for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += a[i][k] * a[k][j]
            c[i][j] += total - a[j][i] / 3.0
    return c[3][4]


def big_numbers():
    a = 7**2000
    b = a * a + 12345
    quotient, remainder = divmod(b, a + 7)
    mixed = 0
    for i in range(6000):
        mixed ^= (i * 2654435761) & 0xFFFFFFFF
        mixed = (mixed << 3 | mixed >> 29) & 0xFFFFFFFF
        mixed += i**3 % 11 - (i >> 2) + ~i
    modular = pow(3, 10**20, 10**18 + 9)
    parts = math.gcd(a, b), math.factorial(300) % 1000007, len(str(b)), int("9" * 300) // 3
    return modular, quotient & 255, remainder & 255, mixed, parts


def exact_numbers():
    money = sum(decimal.Decimal(i) / 7 for i in range(1, 300))
    parts = sum(fractions.Fraction(1, i) for i in range(1, 60))
    return int(money), int(parts), int(statistics.mean(range(300)))


# --- collections and algorithms -------------------------------------------------------------


def count_words():
    counts = collections.Counter(WORDS * 3)
    groups = collections.defaultdict(list)
    for word in WORDS:
        groups[word[0]].append(word)
    return counts.most_common(5), {letter: len(words) for letter, words in sorted(groups.items())}


def sort_things():
    rows = [(rng.random(), rng.randint(0, 50), word) for word in WORDS]
    firsts = [
        sorted(rows)[0],
        sorted(rows, key=lambda row: (-row[1], row[2]))[0],
        sorted(WORDS, key=str.lower, reverse=True)[0],
        sorted(WORDS, key=len)[0],
        sorted(row[0] for row in rows)[0],
    ]
    rows.sort(key=operator.itemgetter(1))
    numbers = sorted(rng.sample(range(10**6), 3000))
    heap = []
    for number in numbers[::-1][:1000]:
        heapq.heappush(heap, number)
    return firsts, heapq.heappop(heap), bisect.bisect(numbers, 5000)


def insertion_sort(n):
    values = [rng.randint(0, 999) for _ in range(n)]
    for i in range(1, n):
        j = i
        while j > 0 and values[j - 1] > values[j]:
            values[j - 1], values[j] = values[j], values[j - 1]
            j -= 1
    return values[5]


def knapsack(capacity):
    best = [0] * capacity
    for weight, value in [(i % 23 + 1, i % 31) for i in range(30)]:
        for x in range(capacity - 1, weight - 1, -1):
            if best[x - weight] + value > best[x]:
                best[x] = best[x - weight] + value
    return best[-1]


def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i, c in enumerate(a, 1):
        current = [i]
        for j, d in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (c != d)))
        previous = current
    return previous[-1]


def queens(n, row=0, columns=frozenset(), rising=frozenset(), falling=frozenset()):
    if row == n:
        return 1
    return sum(
        queens(n, row + 1, columns | {c}, rising | {row + c}, falling | {row - c})
        for c in range(n)
        if c not in columns and row + c not in rising and row - c not in falling
    )


@functools.lru_cache(None)
def common_subsequence(i, j):
    if i == 0 or j == 0:
        return 0
    if WORDS[i % 50][0] == WORDS[j % 60][0]:
        return common_subsequence(i - 1, j - 1) + 1
    return max(common_subsequence(i - 1, j), common_subsequence(i, j - 1))


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


def memoised_fibonacci(n):
    known = {}

    def fibonacci(k):
        if k < 2:
            return k
        if k not in known:
            known[k] = fibonacci(k - 1) + fibonacci(k - 2)
        return known[k]

    return fibonacci(n)


def game_of_life(generations):
    alive = {(rng.randint(0, 20), rng.randint(0, 20)) for _ in range(120)}
    steps = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    for _ in range(generations):
        counts = collections.Counter((x + dx, y + dy) for x, y in alive for dx, dy in steps)
        alive = {cell for cell, n in counts.items() if n == 3 or (n == 2 and cell in alive)}
    return len(alive)


def generators(n):
    def squares(count):
        for i in range(count):
            yield i, i * i

    chained = itertools.chain(range(n), map(lambda value: value + 1, range(n)))
    pairs = sum(1 for a, b in itertools.combinations(range(60), 2) if (a + b) % 3 == 0)
    mixed = sum(a ^ b for a, b in squares(n)) + sum(x for x in itertools.islice(chained, n))
    return mixed + len(set(itertools.permutations(range(5)))) + pairs


def grid_in_a_dict(n):
    grid = {(x, y): x * y for x in range(n) for y in range(n)}
    return sum(grid[x, y] for x in range(n) for y in range(n) if (y, x) in grid)


# --- classes and exceptions -----------------------------------------------------------------


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def norm(self):
        return math.hypot(self.x, self.y)


class Tree:
    def __init__(self, value):
        self.value = value
        self.left = self.right = None

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Tree(value))
        else:
            child.insert(value)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


class Shape:
    @property
    def name(self):
        return type(self).__name__


class Square(Shape):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def area(self):
        return self.side**2


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius * self.radius


@dataclasses.dataclass(order=True)
class Record:
    key: int
    text: str = ""
    tags: list = dataclasses.field(default_factory=list)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def objects():
    position = Vector(0, 0)
    for i in range(4000):
        position = position + Vector(i, 1) * 0.5
    shapes = [Square(i) if i % 2 else Circle(i) for i in range(3000)]
    tree = Tree(500)
    for value in rng.sample(range(10000), 700):
        tree.insert(value)
    records = sorted(Record(i % 17, WORDS[i]) for i in range(800))
    copies = len(copy.deepcopy(records[:60])) + len(pickle.loads(pickle.dumps(records)))
    names = {shape.name for shape in shapes}
    return position.norm(), sum(s.area() for s in shapes), sum(tree), copies, len(names)


def exceptions(n):
    count = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError(i)
            if i % 5 == 0:
                {}[i]
            count += int("12x" if i % 7 == 0 else "12")
        except (ValueError, KeyError):
            count += 1
        finally:
            count += 1
    return count


# --- text and data --------------------------------------------------------------------------


def text():
    lines = []
    for line in textwrap.wrap(" ".join(WORDS[:1500]), 60)[:40]:
        lines.append(line.title().center(70).rstrip() + "!")
    for word in WORDS[:800]:
        lines.append("%s:%5d:%s" % (word, len(word), word[::-1]))
        lines.append(f"{word!r:>12} {len(word) / 3:.2f} {word.upper()}")
        lines.append("{} {}".format(word.capitalize(), word.find("a")))
    whole = "\n".join(lines)
    data = whole.encode()
    total = whole.count("e") + len(whole.split()) + len(data.decode().splitlines())
    for word in WORDS[:300]:
        total += word.startswith("a") + word.endswith("e") + ("b" in word) + word.isalpha()
        total += len(word.replace("a", "xx")) + len(word.strip("ab"))
    changed = ""
    for character in "the quick brown fox" * 60:
        changed += chr(ord(character) ^ 1) if character != " " else character
    packed = zlib.crc32(zlib.decompress(zlib.compress(base64.b64decode(base64.b64encode(data)))))
    return total, packed, len(changed)


def regular_expressions():
    subject = " ".join(
        f"{word}@{other}.com {i}-{i * 3:04d} <b>{word}</b>"
        for i, (word, other) in enumerate(zip(WORDS[:500], WORDS[500:1000]))
    )
    total = len(re.findall(r"[\w.]+@[\w.]+\.\w+", subject))
    total += len(re.findall(r"(\d+)-(\d{4})", subject))
    total += len(re.sub(r"<(/?)b>", r"[\1i]", subject))
    for match in re.finditer(r"(?P<vowels>[aeiou]{2,})|(?:st|th)\w", subject):
        total += match.end() - match.start()
    for word in WORDS[:800]:
        total += bool(re.match(r"^(?:[a-m]+?)([n-z]*)$", word)) + len(re.split(r"[aeiou]+", word))
    return total


def json_documents():
    users = [
        {
            "id": i,
            "name": word,
            "ok": i % 2 == 0,
            "ratio": i / 7,
            "none": None,
            "tags": WORDS[i : i + 3],
            "nested": {"a": i},
        }
        for i, word in enumerate(WORDS[:400])
    ]
    document = json.loads(json.dumps({"users": users}))
    pretty = json.dumps(document, indent=1, sort_keys=True)
    return len(json.loads(pretty)["users"]) + len(json.dumps('äöü"\n' * 100))


def tables():
    file = io.StringIO()
    writer = csv.writer(file)
    for i in range(300):
        writer.writerow([i, WORDS[i], i / 3])
    cells = sum(len(row) for row in csv.reader(io.StringIO(file.getvalue())))
    database = sqlite3.connect(":memory:")
    database.execute("create table t(a integer primary key, b text, c real)")
    rows = [(i, WORDS[i], i * 0.5) for i in range(1000)]
    database.executemany("insert into t values(?, ?, ?)", rows)
    query = "select count(*), sum(c) from t where b like 'a%' or c > 100"
    grouped = "select b, count(*) from t group by substr(b, 1, 1) order by 2 desc"
    count = database.execute(query).fetchone()[0]
    return cells, count, len(database.execute(grouped).fetchall())


def dates_and_bytes():
    total = 0
    first = datetime.date(2024, 1, 1)
    for i in range(300):
        day = first + datetime.timedelta(days=i)
        total += day.weekday() + len(day.isoformat()) + (Colour(1 + i % 2) is Colour.RED)
    for k in range(40):
        total += len(hashlib.sha256(WORDS[k].encode() * 400).hexdigest())
        total += len(hashlib.md5(b"x" * 3000).hexdigest())
        total += len(hashlib.sha1(b"y" * 3000).digest())
        total += len(hashlib.blake2b(b"z" * 2000).digest())
    total += len(struct.pack("<100I", *range(100)))
    return total + len(urllib.parse.quote("a b&ü" * 50)) + len(html.escape("<a&b>" * 50))


# --- code at the top level of a script, where names are globals -----------------------------

SCRIPT = """
total = 0
for i in range(20000):
    if i % 3 == 0 or i % 5 == 0: total += i
    else: total -= 1
values = []
while len(values) < 3000: values.append(len(values) * 2)
counts = {}
for value in values: counts[value] = counts.get(value, 0) + 1
text = ""
for key in counts: text += str(key)
table = {str(k): k for k in range(200)}
"""


def scripts():
    namespace = {}
    exec(compile(SCRIPT, "<script>", "exec"), namespace)
    tree = ast.parse("def f(x):\n  return [y * 2 for y in x if y]\n" * 20)
    return namespace["total"], len(ast.dump(tree))


def main():
    results = []
    for _ in range(ROUNDS):
        results += [sieve(60000), longest_collatz(900), mandelbrot(22), orbit(6000)]
        results += [points_in_lists(40), matrix_product(28), matrix_by_index(30), big_numbers()]
        results += [exact_numbers(), count_words(), sort_things(), insertion_sort(150)]
        results += [knapsack(400), edit_distance(WORDS[1] * 12, WORDS[2] * 12), queens(6)]
        common_subsequence.cache_clear()
        results += [common_subsequence(60, 40), ackermann(2, 30), memoised_fibonacci(60)]
        results += [game_of_life(8), generators(5000), grid_in_a_dict(25), objects()]
        results += [exceptions(4000), text(), regular_expressions(), json_documents(), tables()]
        results += [dates_and_bytes(), scripts()]
    print(len(results), "results")


main()
