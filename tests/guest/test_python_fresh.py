"""Every run is fresh: nothing random repeats, nothing is left of an earlier run."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('random').random()",
        "__import__('random').Random().random()",
        "__import__('random').SystemRandom().random()",
        "__import__('random').sample(range(10**6), 3)",
        "__import__('uuid').uuid4()",
        "__import__('uuid').uuid1()",
        "__import__('uuid').getnode()",
        "__import__('secrets').token_hex(8)",
        "__import__('os').urandom(8)",
        "next(__import__('tempfile')._get_candidate_names())",
        "__import__('tempfile').mkdtemp()",
        "__import__('sqlite3').connect(':memory:').execute('select random()').fetchone()",
        "__import__('sqlite3').connect(':memory:').execute('select hex(randomblob(8))').fetchone()",
        "__import__('email.generator').generator._make_boundary()",
        "__import__('email.utils').utils.make_msgid()",
        "__import__('statistics').NormalDist().samples(1)",
        "__import__('http.client') and __import__('random').getrandbits(64)",
        "__import__('time').time_ns()",
    ],
)
def test_nothing_random_repeats(python: Programs, expression: str) -> None:
    outputs = {python(f"print({expression})", check=True).stdout for _ in range(4)}
    assert len(outputs) == 4


def test_only_the_hash_seed_is_that_of_the_snapshot(python: Programs) -> None:
    outputs = {python("print(hash('a'), {'x', 'y', 'z'})", check=True).stdout for _ in range(2)}
    assert len(outputs) == 1


CHANGES = """
import builtins, gc, json, linecache, logging, os, random, sys, warnings
open('/work/x', 'w').write('left'); open('/tmp/y', 'w').write('left')
builtins.print = builtins.open = None
builtins.smuggled = sys.smuggled = json.smuggled = 'left'
json.dumps = lambda *a: 'patched'
os.environ['SMUGGLED'] = 'left'
os.chdir('/tmp')
sys.path.append('/tmp'); sys.argv.append('left'); sys.setrecursionlimit(77)
sys.modules['smuggled'] = sys
sys.stdout.smuggled = 'left'
logging.getLogger('smuggled').addHandler(logging.NullHandler())
warnings.simplefilter('error')
linecache.cache['smuggled'] = (1, None, [''], 'smuggled')
random.seed(1)
gc.disable()
"""

LOOK = """
import gc, json, linecache, logging, os, sys, warnings
print(os.listdir('/work'), os.listdir('/tmp'), os.getcwd(), 'SMUGGLED' in os.environ)
print(hasattr(__builtins__, 'smuggled'), hasattr(sys, 'smuggled'), hasattr(json, 'smuggled'))
print(json.dumps([1]), '/tmp' in sys.path, sys.argv, sys.getrecursionlimit())
print('smuggled' in sys.modules, hasattr(sys.stdout, 'smuggled'), 'smuggled' in linecache.cache)
print('smuggled' in logging.root.manager.loggerDict, gc.isenabled())
warnings.warn('only a warning')
"""


def test_no_state_of_an_earlier_run_is_seen(python: Programs) -> None:
    python(CHANGES, check=True)
    ran = python(LOOK, check=True)
    assert ran.stdout.splitlines() == [
        "[] [] /work False",
        "False False False",
        "[1] False ['prog.py'] 1000",
        "False False False",
        "False True",
    ]


def test_changes_do_take_hold_within_their_own_run(python: Programs) -> None:
    """The control: what the test above looks for can be seen where it was done."""
    ran = python(CHANGES.replace("builtins.print = builtins.open = None", "") + LOOK)
    assert ran.status is Status.FAILED  # the warning is an error now
    assert ran.stdout.splitlines() == [
        "['x'] ['y'] /tmp True",
        "True True True",
        "patched True ['prog.py', 'left'] 77",
        "True True True",
        "True False",
    ]


def test_the_interpreter_shows_nothing_of_its_preparation(python: Programs) -> None:
    ran = python(
        """
        import linecache, sys, warnings
        print([name for name in sys.modules if 'nova_guest' in name], linecache.cache.keys())
        print(sys.argv, hasattr(sys, 'last_exc'), sys.path)
        print(sys.exc_info(), sys.gettrace(), len(warnings.filters) > 0, sys.dont_write_bytecode)
        print(globals().keys() - {'linecache', 'sys', 'warnings'})
        """,
        check=True,
    )
    assert ran.stdout.splitlines()[:3] == [
        "[] dict_keys(['prog.py'])",
        "['prog.py'] False ['/work', '/usr/lib/python313.zip', '/usr/lib/python3-packages.zip']",
        "(None, None, None) None True True",
    ]
