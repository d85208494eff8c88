"""What one run leaves for the next: the second program must not find it.

``source`` plants, ``PROBE`` (appended for the control, run alone in the second run) looks.
"""

from __future__ import annotations

from typing import Any

from nova_desktop.model import Language
from tests.attack.attack import JS, SHOW, Attack, Control, Group

PROBE = "\n# --- probe ---\n"
JS_PROBE = "\n// --- probe ---\n"


_group = Group("state", control=Control.SAME_RUN)


def _a(name: str, plant: str, probe: str, **more: Any) -> Attack:
    mark = JS_PROBE if more.get("language") is Language.JAVASCRIPT else PROBE
    return _group(name, plant + mark + probe, **more)


ATTACKS = [
    _a(
        "leaves-a-patched-builtin",
        "import builtins; builtins.planted = 1",
        f"""
import builtins
if hasattr(builtins, "planted"): {SHOW}
""",
    ),
    _a(
        "leaves-a-changed-builtin-function",
        "import builtins; builtins.len = lambda x: 42",
        f"""
if len("") == 42: {SHOW}
""",
    ),
    _a(
        "leaves-a-module",
        "import sys, types; sys.modules['planted'] = types.ModuleType('p')",
        f"""
import planted; {SHOW}
""",
    ),
    _a(
        "leaves-a-patched-library-function",
        "import json; json.dumps = lambda *a: 'planted'",
        f"""
import json
if json.dumps(1) == "planted": {SHOW}
""",
    ),
    _a(
        "leaves-a-file-in-work",
        "open('/work/planted', 'w').close()",
        f"""
import os
if os.path.exists("/work/planted"): {SHOW}
""",
    ),
    _a(
        "leaves-a-file-in-tmp",
        "open('/tmp/planted', 'w').close()",
        f"""
import os
if os.path.exists("/tmp/planted"): {SHOW}
""",
    ),
    _a(
        "leaves-an-environment-variable",
        "import os; os.environ['PLANTED'] = '1'",
        f"""
import os
if "PLANTED" in os.environ: {SHOW}
""",
    ),
    _a(
        "leaves-a-current-folder",
        "import os; os.mkdir('/tmp/d'); os.chdir('/tmp/d')",
        f"""
import os
if os.getcwd() == "/tmp/d": {SHOW}
""",
    ),
    _a(
        "leaves-an-open-descriptor",
        """
import os
f = os.open("/tmp/kept", os.O_RDWR | os.O_CREAT); os.write(f, b"planted")
kept = [os.open("/tmp/kept", os.O_RDONLY) for _ in range(10)]
""",
        f"""
import os
for number in range(4, 40):
    try:
        if os.pread(number, 7, 0) == b"planted": {SHOW}; break
    except OSError: pass
""",
    ),
    _a(
        "leaves-a-changed-recursion-limit",
        "import sys; sys.setrecursionlimit(4321)",
        f"""
import sys
if sys.getrecursionlimit() == 4321: {SHOW}
""",
    ),
    _a("leaves-an-exit-handler", "import atexit; atexit.register(print, 'REA' 'CHED')", "pass"),
    _a(
        "leaves-an-import-hook",
        """
import sys
class Hook:
    def find_spec(self, *a):
        print("REA" "CHED")
sys.meta_path.insert(0, Hook())
""",
        """
try: import nothing_of_this_name
except ImportError: pass
""",
    ),
    _a(
        "leaves-a-changed-search-path",
        "import sys; sys.path.insert(0, '/tmp/planted')",
        f"""
import sys
if "/tmp/planted" in sys.path: {SHOW}
""",
    ),
    _a(
        "leaves-random-state",
        "import random; random.seed(7)",
        f"""
import random
probe = random.random()
if probe == random.Random(7).random(): {SHOW}
""",
    ),
    _a(
        "leaves-a-warning-filter",
        "import warnings; warnings.simplefilter('error', UserWarning)",
        f"""
import warnings
try: warnings.warn("x")
except UserWarning: {SHOW}
""",
    ),
    _a(
        "leaves-a-decimal-context",
        "import decimal; decimal.getcontext().prec = 3",
        f"""
import decimal
if decimal.getcontext().prec == 3: {SHOW}
""",
    ),
    _a(
        "leaves-a-codec",
        """
import codecs
codecs.register(lambda name: codecs.lookup("utf-8") if name == "planted" else None)
""",
        f"""
import codecs
try: codecs.lookup("planted")
except LookupError: pass
else: {SHOW}
""",
    ),
    _a(
        "leaves-a-shared-sqlite-database",
        """
import sqlite3
keep = sqlite3.connect("file:planted?mode=memory&cache=shared", uri=True)
keep.execute("create table t(a)")
sqlite3.register_adapter(complex, str)
""",
        f"""
import sqlite3
try: sqlite3.connect(":memory:").execute("select ?", (1j,)); {SHOW}
except sqlite3.Error: pass
""",
    ),
    _a(
        "leaves-its-secret-in-memory",
        """
secret = bytearray(b"SECRET-OF-THE-FIRST-RUN-" * 40_000)
""",
        f"""
import gc
found = [o for o in gc.get_objects() + list(globals().values()) if isinstance(o, bytearray)]
fresh = [bytearray(1 << 20) for _ in range(16)]
if any(b"-OF-THE-FIRST-RUN-" in o for o in found + fresh): {SHOW}
""",
    ),
    _a(
        "leaves-a-changed-standard-library",
        """
import sys, zipimport
for key in list(sys.path_importer_cache): sys.path_importer_cache[key] = None
sys.path_hooks.clear()
""",
        f"""
import sys
if not sys.path_hooks: {SHOW}
""",
    ),
    _a(
        "leaves-a-replaced-standard-output",
        """
import sys, io
sys.stderr = io.StringIO()
""",
        f"""
import sys, io
if isinstance(sys.stderr, io.StringIO): {SHOW}
""",
    ),
    _a(
        "leaves-a-class-attribute",
        "import enum; enum.Enum.planted = 1",
        f"""
import enum
if hasattr(enum.Enum, "planted"): {SHOW}
""",
    ),
    _a(
        "leaves-a-javascript-global",
        "globalThis.planted = 1;",
        """
if (globalThis.planted) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "leaves-a-changed-javascript-prototype",
        "Array.prototype.planted = 1;",
        """
if ([].planted) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "leaves-a-changed-javascript-builtin",
        "Math.max = () => 42;",
        """
if (Math.max(1, 2) === 42) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "leaves-a-javascript-file",
        "require('fs').writeFileSync('/tmp/planted', 'x');",
        """
if (require('fs').existsSync('/tmp/planted')) console.log("REA" + "CHED");
""",
        **JS,
    ),
]
