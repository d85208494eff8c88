"""Floods: output, memory, files, names, descriptors, subscriptions, refused calls.

The sandbox runs each with a budget of 96 MiB. A program prints REACHED when it holds or has
produced more than twice that, so the control needs little of the machine that runs it.
"""

from __future__ import annotations

from nova_desktop.model import MIB, Limits, Status
from tests.attack.attack import JS, SHOW, STARVED, Control, Group

FLOOD = Limits(
    timeout_s=3.0, memory_bytes=96 * MIB, output_bytes=1 * MIB, output_total_bytes=16 * MIB
)
ANY = STARVED | {Status.LIMIT}


_a = Group("resources", limits=FLOOD, statuses=ANY)


ATTACKS = [
    # memory of the interpreter
    _a(
        "allocates-one-huge-string",
        f"""
x = "x" * (200 << 20); {SHOW}
""",
    ),
    _a(
        "grows-a-list-of-strings",
        f"""
x = [str(i) * 100000 for i in range(400)]
if sum(map(len, x)) > 60 << 20: x *= 1; y = [s + "y" for s in x] + [s + "z" for s in x]; {SHOW}
""",
    ),
    _a(
        "allocates-a-huge-bytearray",
        f"""
x = bytearray(200 << 20); x[::4096] = b"x" * len(x[::4096]); {SHOW}
""",
    ),
    _a(
        "makes-millions-of-small-objects",
        f"""
x = [object() for _ in range(12_000_000)]; {SHOW}
""",
        limits=Limits(timeout_s=10.0, memory_bytes=96 * MIB),
    ),
    _a(
        "builds-a-huge-integer",
        f"""
x = 1 << (200 << 23); {SHOW}
""",
    ),
    _a(
        "fills-a-dictionary",
        f"""
x = {{i: i for i in range(3_000_000)}}; {SHOW}
""",
        limits=Limits(timeout_s=10.0, memory_bytes=96 * MIB),
    ),
    _a(
        "inflates-a-compression-bomb",
        f"""
import zlib
bomb = zlib.compress(b"\\0" * (1 << 20))
parts = [zlib.decompress(bomb) for _ in range(200)]; {SHOW}
""",
    ),
    _a(
        "doubles-a-string-through-replace",
        f"""
x = "aa"
while len(x) < 200 << 20: x = x.replace("a", "aa")
{SHOW}
""",
    ),
    _a(
        "keeps-every-exception",
        f"""
kept = []
def grow(n):
    try: raise ValueError("x" * 100_000 + str(n))
    except ValueError as e: kept.append(e)
for n in range(2100): grow(n)
{SHOW}
""",
    ),
    _a(
        "swallows-memory-errors-and-goes-on",
        f"""
kept = []
for n in range(300):
    try: kept.append(bytearray(1 << 20))
    except MemoryError: pass
if len(kept) > 200: {SHOW}
""",
    ),
    _a(
        "allocates-a-huge-array-in-javascript",
        """
const x = new Uint8Array(200 * 1048576).fill(1); console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "grows-an-array-of-strings-in-javascript",
        """
const x = []; for (let i = 0; i < 210; i++) x.push("x".repeat(1048576) + i);
console.log("REA" + "CHED", x.length);
""",
        **JS,
    ),
    _a(
        "doubles-a-string-in-javascript",
        """
let x = "x"; while (x.length < 200 * 1048576) x = x + x + "y";
console.log("REA" + "CHED", x.charCodeAt(12345));
""",
        **JS,
    ),
    # memory of the host: files
    _a(
        "fills-work-with-one-file",
        f"""
with open("@SCRATCH@/big", "wb") as f:
    for _ in range(200): f.write(bytes(1 << 20))
{SHOW}
""",
    ),
    _a(
        "fills-the-temporary-folder",
        f"""
import tempfile
with tempfile.TemporaryFile() as f:
    for _ in range(200): f.write(b"x" * (1 << 20))
    f.flush(); {SHOW}
""",
    ),
    _a(
        "fills-a-hole",
        f"""
import os
f = os.open("@SCRATCH@/hole", os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 200 << 20)
for at in range(0, 200 << 20, 4096): os.pwrite(f, b"x", at)
{SHOW}
""",
    ),
    _a(
        "tears-holes-into-the-heap-of-the-host",
        f"""
import os
flags = os.O_RDWR | os.O_CREAT; written = 0
keep, drop, big = (os.open(f"@SCRATCH@/{{n}}", flags) for n in ("keep", "drop", "big"))
try:
    for n in range(40_000): os.pwrite(drop if n % 16 else keep, b"x", (n + 1) * 65536)
except OSError: pass
os.ftruncate(drop, 0)
while written < 160 << 20: written += os.pwrite(big, b"y" * 65536, written)
{SHOW}
""",
        limits=Limits(timeout_s=10.0, memory_bytes=160 * MIB),
    ),
    _a(
        "keeps-unlinked-files",
        f"""
import os
kept = []
for n in range(200):
    f = os.open(f"@SCRATCH@/u{{n}}", os.O_RDWR | os.O_CREAT); os.unlink(f"@SCRATCH@/u{{n}}")
    os.write(f, b"x" * (1 << 20)); kept.append(f)
{SHOW}
""",
    ),
    _a(
        "makes-a-flood-of-empty-files",
        f"""
for n in range(60_000): open(f"@SCRATCH@/{{n}}", "w").close()
{SHOW}
""",
        limits=Limits(timeout_s=5.0, memory_bytes=40 * MIB),
    ),
    _a(
        "makes-a-flood-of-long-names",
        f"""
for n in range(60_000): open("@SCRATCH@/" + "n" * 240 + str(n), "w").close()
{SHOW}
""",
        limits=Limits(timeout_s=5.0, memory_bytes=40 * MIB),
    ),
    _a(
        "makes-a-flood-of-folders",
        f"""
import os
for n in range(60_000): os.mkdir(f"@SCRATCH@/d{{n}}")
{SHOW}
""",
        limits=Limits(timeout_s=5.0, memory_bytes=40 * MIB),
    ),
    _a(
        "gives-many-files-paths-of-kilobytes",
        f"""
import os
os.chdir("@SCRATCH@"); os.mkdir("base"); made = 0
try:
    for made in range(60_000): open(f"base/{{made:x}}", "w").close()
except OSError:
    for n in range(400): os.unlink(f"base/{{n:x}}")
for n in range(60):
    os.mkdir("over"); os.rename("base", "over/" + "n" * 250); os.rename("over", "base")
if made == 59_999: {SHOW}
""",
        limits=Limits(timeout_s=5.0, memory_bytes=40 * MIB),
    ),
    _a(
        "nests-folders-without-end",
        f"""
import os
path = "@SCRATCH@"
for n in range(500): path += "/d"; os.mkdir(path)
{SHOW}
""",
    ),
    _a(
        "opens-a-flood-of-descriptors",
        f"""
import os
kept = [os.open("@SCRATCH@", os.O_RDONLY) for _ in range(5000)]; {SHOW}
""",
    ),
    _a(
        "writes-many-buffers-in-one-call",
        f"""
import os
data = memoryview(b"x" * (1 << 20)); f = os.open("@SCRATCH@/g", os.O_RDWR | os.O_CREAT)
total = sum(os.writev(f, [data] * 16) for _ in range(13))
if total > 200 << 20: {SHOW}
""",
    ),
    _a(
        "renames-a-file-into-ever-longer-names",
        f"""
import os
open("@SCRATCH@/a", "w").close(); name = "@SCRATCH@/a"
for n in range(6): os.rename(name, name + "b" * 50); name += "b" * 50
{SHOW}
""",
        control=Control.OTHER_LIMIT,
        control_source=f"""
import os
open("/work/a", "w").close(); name = "/work/a"
for n in range(4): os.rename(name, name + "b" * 50); name += "b" * 50
{SHOW}
""",
    ),
    # output
    _a(
        "floods-standard-output",
        f"""
import sys
for _ in range(30_000): sys.stdout.write("x" * 1023 + "\\n")
{SHOW}
""",
    ),
    _a(
        "floods-standard-error",
        f"""
import sys
for _ in range(30_000): sys.stderr.write("x" * 1023 + "\\n")
sys.stderr.flush(); {SHOW}
""",
    ),
    _a(
        "writes-one-giant-line",
        f"""
import os
data = b"x" * (1 << 20)
for _ in range(40):
    view = memoryview(data)
    while view: view = view[os.write(1, view):]
print(); {SHOW}
""",
    ),
    _a(
        "floods-output-byte-by-byte",
        f"""
import os
for _ in range(3_000_000): os.write(2, b"x")
{SHOW}
""",
        limits=Limits(timeout_s=1.0, memory_bytes=96 * MIB, output_total_bytes=1 * MIB),
    ),
    _a(
        "floods-output-from-javascript",
        """
const line = "x".repeat(1023); for (let i = 0; i < 30000; i++) console.log(line);
console.log("REA" + "CHED");
""",
        **JS,
    ),
    # work that the host does for the guest
    _a(
        "asks-for-a-gigabyte-of-entropy",
        f"""
import os
if len(os.urandom(300 << 20)): {SHOW}
""",
    ),
    _a(
        "asks-the-clock-without-end",
        f"""
import time
start = time.monotonic()
while time.monotonic() < start + 2: pass
{SHOW}
""",
        limits=Limits(timeout_s=0.7, memory_bytes=96 * MIB),
    ),
    _a(
        "reads-a-large-folder-without-end",
        f"""
import os, time
for n in range(3000): open(f"@SCRATCH@/{{n}}", "w").close()
start = time.monotonic()
while time.monotonic() < start + 2: os.listdir("@SCRATCH@")
{SHOW}
""",
        limits=Limits(timeout_s=0.7, memory_bytes=96 * MIB),
    ),
    _a(
        "renames-without-end",
        f"""
import os, time
open("@SCRATCH@/a", "w").close(); start = time.monotonic()
while time.monotonic() < start + 2:
    os.rename("@SCRATCH@/a", "@SCRATCH@/b"); os.rename("@SCRATCH@/b", "@SCRATCH@/a")
{SHOW}
""",
        limits=Limits(timeout_s=0.7, memory_bytes=96 * MIB),
    ),
    _a(
        "is-refused-a-million-different-ways",
        f"""
import os, time
start = time.monotonic(); n = 0
while time.monotonic() < start + 2:
    n += 1
    try: os.symlink("x" * 200 + str(n), f"@SCRATCH@/l{{n}}")
    except OSError: pass
{SHOW}
""",
        limits=Limits(timeout_s=0.7, memory_bytes=96 * MIB),
        denied="path_symlink",
    ),
    _a(
        "reports-an-endless-exception-text",
        f"""
class Loud(Exception): pass
try: raise Loud("x" * (100 << 20))
finally:
    import traceback, sys
    if len("".join(traceback.format_exception_only(sys.exception()))) > 96 << 20: {SHOW}
""",
    ),
]
