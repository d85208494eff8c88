"""Programs that do not end by themselves: in bytecode, in C loops, asleep, at exit."""

from __future__ import annotations

from nova_desktop.model import Status
from tests.attack.attack import ENDED, JS, SHORT, Control, Group

_a = Group("endless", limits=SHORT, statuses=ENDED, control=Control.STILL_RUNNING)


ATTACKS = [
    _a("loops-in-bytecode", "while True: pass"),
    _a(
        "loops-and-catches-everything",
        """
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    ),
    _a("loops-in-a-c-function", "sum(range(10**14))"),
    _a(
        "loops-in-an-iterator-without-bytecode",
        """
import collections, itertools
collections.deque(itertools.count(), maxlen=0)
""",
    ),
    _a(
        "loops-in-a-regular-expression",
        """
import re
re.match(r"(a+)+$", "a" * 64 + "b")
""",
    ),
    _a("loops-in-big-integers", "x = 9 ** 9 ** 8; x = x * x"),
    _a(
        "loops-in-turning-an-integer-into-text",
        """
import sys
sys.set_int_max_str_digits(0); str(1 << 40_000_000)
""",
    ),
    _a(
        "loops-in-decimal",
        """
from decimal import *
getcontext().prec = 10_000_000
getcontext().Emax = MAX_EMAX
(Decimal(2).sqrt() ** Decimal("0.5")).ln()
""",
    ),
    _a(
        "loops-in-sorting",
        """
class A:
    def __lt__(self, other):
        while True: pass
sorted([A(), A()])
""",
    ),
    _a(
        "loops-in-hashing",
        """
import hashlib
data = bytes(1 << 20); h = hashlib.sha256()
while True: h.update(data)
""",
    ),
    _a(
        "loops-in-compression",
        """
import lzma
data = bytes(range(256)) * 4000
while True: lzma.compress(data, preset=1)
""",
    ),
    _a(
        "loops-in-sqlite",
        """
import sqlite3
sqlite3.connect(":memory:").execute(
    "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t"
).fetchall()
""",
    ),
    _a(
        "loops-in-a-finaliser",
        """
class A:
    def __del__(self):
        while True: pass
A()
""",
    ),
    _a(
        "loops-at-exit",
        """
import atexit
@atexit.register
def forever():
    while True: pass
""",
    ),
    _a(
        "loops-in-an-import-hook",
        """
import sys
class Finder:
    def find_spec(self, *args):
        while True: pass
sys.meta_path.insert(0, Finder())
import nothing_of_this_name
""",
    ),
    _a(
        "loops-while-its-traceback-is-printed",
        """
class E(Exception):
    def __str__(self):
        while True: pass
raise E
""",
    ),
    _a(
        "loops-in-string-search",
        """
while True: ("a" * 1_000_000 + "b").find("a" * 500_000 + "c")
""",
    ),
    _a(
        "loops-in-a-generator-chain",
        """
def numbers():
    while True: yield 1
sum(numbers())
""",
    ),
    _a(
        "loops-in-asyncio",
        """
import asyncio
async def main():
    while True: await asyncio.sleep(0)
asyncio.run(main())
""",
    ),
    _a(
        "loops-in-printing-nothing",
        """
import sys
while True: sys.stdout.flush(); sys.stdout.write("")
""",
    ),
    _a(
        "loops-in-comparing-itself",
        """
class A:
    def __eq__(self, other):
        while True: pass
A() in [A()]
""",
    ),
    _a(
        "loops-in-pickling",
        """
import pickle
class A:
    def __reduce__(self):
        while True: pass
pickle.dumps(A())
""",
    ),
    _a("sleeps-past-the-deadline", "import time; time.sleep(3600)"),
    _a(
        "sleeps-in-small-pieces",
        """
import time
while True: time.sleep(0.001)
""",
    ),
    _a("sleeps-in-asyncio", "import asyncio; asyncio.run(asyncio.sleep(3600))"),
    _a(
        "waits-for-a-lock-that-it-holds",
        """
import threading
lock = threading.Lock(); lock.acquire(); lock.acquire()
""",
        # A lone thread that waits for itself: the C library ends the program at once.
        statuses=ENDED | {Status.FAILED},
    ),
    _a(
        "waits-in-select",
        """
import select
while True: select.select([], [], [], 3600)
""",
        control_source="import select\nselect.select([], [], [], 3600)",
    ),
    _a("loops-in-javascript", "while (true) {}", **JS),
    _a(
        "loops-in-javascript-and-catches-everything",
        """
for (;;) { try { for (;;) {} } catch (e) {} }
""",
        **JS,
    ),
    _a("loops-in-microtasks", "(function f() { Promise.resolve().then(f); })();", **JS),
    _a("loops-in-a-javascript-regular-expression", '/(a+)+$/.test("a".repeat(64) + "b");', **JS),
    _a("loops-in-timers", "setInterval(() => {}, 1);", **JS),
    _a("sleeps-in-javascript", "setTimeout(() => {}, 3600000);", **JS),
    _a(
        "loops-in-javascript-sorting",
        """
[2, 1].sort(() => { for (;;) {} });
""",
        **JS,
    ),
    _a(
        "loops-in-a-javascript-proxy",
        """
new Proxy({}, { get() { for (;;) {} } }).x;
""",
        **JS,
    ),
    _a(
        "loops-in-javascript-big-integers",
        """
let x = 3n; for (;;) { x = x * x; if (x > 1n << 100000n) x = 3n; }
""",
        **JS,
    ),
    _a(
        "loops-in-javascript-json",
        """
JSON.stringify({ toJSON() { for (;;) {} } });
""",
        **JS,
    ),
    _a(
        "loops-in-a-javascript-exit-handler",
        """
process.on("exit", () => { for (;;) {} });
""",
        **JS,
    ),
]
