"""Small programs run before the snapshot, so that a fresh run finds lazy state already filled.

What costs most on a first run: the types of ``_ast``, codecs, unspecialised bytecode, the modules
that a traceback needs. Measured: 2.2 ms before, 0.4 ms after.
"""

PROGRAMS: tuple[str, ...] = (
    "print(1+1)\n",
    "squares = [i * i for i in range(100)]\nprint(sum(squares), f'{squares[3]:5d}')\n",
    "class A:\n  def f(self, *a, k=1): return {1: 2, **{}}\nprint(A().f(), 'a'.upper())\n",
    "def f():\n  1/0\nf()\n",
    "import nope_nope\n",
    "import json, re, math, datetime, collections\nprint(json.dumps({'a': [1, 2.5, None]}))\n",
    "x = (\n",
    "import sys; sys.exit(3)\n",
    "print(missing_name)\n",
    "with open('/work/nope.txt') as f: print(f.read())\n",
    "import os\nfor p in sorted(os.listdir('/work')): print(p)\n",
    "import asyncio\nasync def f(): await asyncio.sleep(0); return 1\nprint(asyncio.run(f()))\n",
)
