"""Recursion without end: the guest's own error wherever its interpreter can tell."""

from __future__ import annotations

from nova_desktop.model import MIB, Limits, Status
from tests.attack.attack import COPED, JS, Control, Group

DEEP = COPED | {Status.LIMIT, Status.OUT_OF_MEMORY, Status.TIMED_OUT}


_a = Group(
    "recursion",
    statuses=DEEP,
    limits=Limits(timeout_s=5.0, memory_bytes=256 * MIB),
    control=Control.CRASHES,
)


ATTACKS = [
    _a(
        "overflows-the-stack-through-a-slot",
        """
import sys; sys.setrecursionlimit(10**8)
class A:
    def __add__(self, other): return self + other
A() + A()
""",
    ),
    _a(
        "overflows-the-stack-through-getattr",
        """
import sys; sys.setrecursionlimit(10**8)
class A:
    def __getattr__(self, name): return getattr(self, "x")
A().a
""",
    ),
    _a(
        "overflows-the-stack-through-call",
        """
import sys; sys.setrecursionlimit(10**8)
class A:
    def __call__(self): return self()
A.__call__ = A()
A()()
""",
    ),
    _a(
        "overflows-the-stack-through-sorting",
        """
import sys; sys.setrecursionlimit(10**8)
def f(x): return sorted([1, 2], key=f)
f(1)
""",
    ),
    _a(
        "overflows-the-stack-through-map",
        """
import sys; sys.setrecursionlimit(10**8)
def f(x): return list(map(f, [1]))
f(1)
""",
    ),
    _a(
        "overflows-the-stack-through-repr",
        """
import sys; sys.setrecursionlimit(10**8)
x = []
for _ in range(3_000_000): x = [x]
repr(x)
""",
    ),
    _a(
        "overflows-the-stack-through-comparison",
        """
import sys; sys.setrecursionlimit(10**8)
x = []; y = []
for _ in range(1_000_000): x = [x]; y = [y]
x == y
""",
    ),
    _a(
        "overflows-the-stack-through-hashing",
        """
x = ()
for _ in range(1_000_000): x = (x,)
hash(x)
""",
    ),
    _a(
        "overflows-the-stack-through-format",
        """
import sys; sys.setrecursionlimit(10**8)
class A:
    def __str__(self): return f"{self}"
str(A())
""",
    ),
    _a(
        "overflows-the-stack-through-reduce",
        """
import sys, functools; sys.setrecursionlimit(10**8)
def f(a, b): return functools.reduce(f, [1, 2])
f(1, 2)
""",
    ),
    _a(
        "overflows-the-stack-through-instance-checks",
        """
import sys; sys.setrecursionlimit(10**8)
class M(type):
    def __instancecheck__(cls, x): return isinstance(x, cls)
class A(metaclass=M): pass
isinstance(1, A)
""",
    ),
    _a(
        "overflows-the-stack-through-deep-copies",
        """
import sys, copy; sys.setrecursionlimit(10**8)
class A:
    def __deepcopy__(self, memo): return copy.deepcopy(self, {})
    __reduce_ex__ = None
class B(dict):
    def __missing__(self, key): return self[key]
B()[1]
""",
    ),
    _a(
        "overflows-the-stack-through-json",
        """
import sys, json; sys.setrecursionlimit(10**8)
json.loads("[" * 3_000_000)
""",
    ),
    _a(
        "overflows-the-stack-of-the-parser",
        """
eval("(" * 100_000 + ")" * 100_000)
""",
        control=Control.VALID_CALL,
        control_source='print(eval("(" * 50 + "1" + ")" * 50), "REA" "CHED")',
    ),
    _a(
        "overflows-the-stack-of-the-compiler",
        """
import ast
x = ast.parse("1", mode="eval").body
for _ in range(200_000): x = ast.UnaryOp(ast.USub(), x)
compile(ast.fix_missing_locations(ast.Expression(x)), "x", "eval")
""",
        control=Control.VALID_CALL,
        control_source="""
import ast
x = ast.parse("1", mode="eval").body
for _ in range(20): x = ast.UnaryOp(ast.USub(), x)
print(eval(compile(ast.fix_missing_locations(ast.Expression(x)), "x", "eval")), "REA" "CHED")
""",
    ),
    _a(
        "overflows-the-stack-of-the-regex-compiler",
        """
import re
re.compile("(" * 50_000 + ")" * 50_000)
""",
        control=Control.VALID_CALL,
        control_source="""
import re
re.compile("(" * 20 + ")" * 20); print("REA" "CHED")
""",
    ),
    _a(
        "overflows-the-stack-of-xml",
        """
import xml.etree.ElementTree as E
x = E.fromstring("<a>" * 200_000 + "</a>" * 200_000)
E.tostring(x)
""",
        control=Control.VALID_CALL,
        control_source="""
import xml.etree.ElementTree as E
E.tostring(E.fromstring("<a>" * 20 + "</a>" * 20)); print("REA" "CHED")
""",
    ),
    _a(
        "overflows-the-stack-of-sqlite",
        """
import sqlite3
sqlite3.connect(":memory:").execute("select " + "(" * 200_000 + "1" + ")" * 200_000)
""",
        control=Control.VALID_CALL,
        control_source="""
import sqlite3
sqlite3.connect(":memory:").execute("select " + "(" * 20 + "1" + ")" * 20); print("REA" "CHED")
""",
    ),
    _a(
        "overflows-the-stack-of-javascript",
        """
function f() { return f() + 1; } f();
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
function f(n) { return n ? f(n - 1) + 1 : 0; } if (f(100) === 100) console.log("REA" + "CHED");
""",
    ),
    _a(
        "overflows-the-stack-of-javascript-json",
        """
JSON.parse("[".repeat(3000000));
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
JSON.parse("[".repeat(30) + "]".repeat(30)); console.log("REA" + "CHED");
""",
    ),
    _a(
        "overflows-the-stack-of-a-javascript-regular-expression",
        """
new RegExp("(".repeat(200000) + ")".repeat(200000));
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
new RegExp("(".repeat(20) + ")".repeat(20)); console.log("REA" + "CHED");
""",
    ),
    _a(
        "overflows-the-stack-of-the-javascript-parser",
        """
new Function("(".repeat(300000) + "1" + ")".repeat(300000));
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
new Function("return " + "(".repeat(30) + "1" + ")".repeat(30)); console.log("REA" + "CHED");
""",
    ),
    _a(
        "overflows-the-stack-through-javascript-getters",
        """
const o = { get x() { return this.x; } }; o.x;
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
const o = { get x() { return 1; } }; if (o.x) console.log("REA" + "CHED");
""",
    ),
    _a(
        "overflows-the-stack-through-javascript-sorting",
        """
function f() { [2, 1].sort(f); } f();
""",
        **JS,
        control=Control.VALID_CALL,
        control_source="""
[2, 1].sort((a, b) => a - b); console.log("REA" + "CHED");
""",
    ),
]
