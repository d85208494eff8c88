"""What a Python program finds around it: ``__main__``, its folder, its modules, its arguments."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


def test_source_runs_as_main_in_work(python: Programs) -> None:
    ran = python(
        """
        import os, sys
        if __name__ == '__main__':
            print(sys.argv, os.getcwd(), __file__, sys.path[0])
            print(sorted(name for name in globals() if name.startswith('__')))
            print(sys.modules['__main__'].__dict__ is globals())
        """,
        name="report.py",
        arguments=("-v", "ünï"),
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "['report.py', '-v', 'ünï'] /work report.py /work",
        "['__annotations__', '__builtins__', '__cached__', '__doc__', '__file__', '__loader__', "
        "'__name__', '__package__', '__spec__']",
        "True",
    ]


def test_script_from_stdin_has_no_file(python: Programs) -> None:
    ran = python("import sys\nprint('__file__' in globals(), sys.path[0] == '')", name="<stdin>")
    assert ran.stdout == "False True\n"


def test_entry_runs_like_python_main_py(python: Programs) -> None:
    ran = python(
        entry="tool/main.py",
        arguments=("a b",),
        files={
            "tool/main.py": """
                import os, sys
                import helper
                from pack.inner import value
                print(os.getcwd(), sys.argv, __file__, sys.path[0], helper.__file__, value())
                """,
            "tool/helper.py": "",
            "tool/pack/__init__.py": "",
            "tool/pack/inner.py": """
                from . import other
                from .deep.leaf import leaf
                def value(): return other.number + leaf
                """,
            "tool/pack/other.py": "number = 40\n",
            "tool/pack/deep/leaf.py": "leaf = 2\n",
        },
        check=True,
    )
    assert ran.stdout == (
        "/work ['tool/main.py', 'a b'] /work/tool/main.py /work/tool /work/tool/helper.py 42\n"
    )


def test_nothing_compiled_is_left_in_the_folder(python: Programs) -> None:
    ran = python(entry="main.py", files={"main.py": "import helper", "helper.py": ""}, check=True)
    assert sorted(ran.files) == ["helper.py", "main.py"]


def test_error_in_a_module_shows_its_own_line(python: Programs) -> None:
    ran = python(
        entry="main.py",
        files={"main.py": "import lib\nlib.f()\n", "lib.py": "def f():\n    raise OSError('x')\n"},
    )
    assert '  File "/work/main.py", line 2, in <module>\n    lib.f()\n    ~~~~~^^\n' in ran.stderr
    assert "  File \"/work/lib.py\", line 2, in f\n    raise OSError('x')\n" in ran.stderr


def test_missing_entry_is_told_as_by_python(python: Programs) -> None:
    ran = python(entry="nope.py", files={"x": ""})
    assert ran.exit_code == 2
    assert ran.stderr.startswith("python3: can't open file '/work/nope.py': [Errno ")


def test_folder_and_zip_archive_with_a_main_run(python: Programs) -> None:
    files = {"app/__main__.py": "from helper import x; print(x, __name__)", "app/helper.py": "x=1"}
    assert python(entry="app", files=files, check=True).stdout == "1 __main__\n"
    ran = python(entry="app", files={"app/x.py": ""})
    assert (ran.exit_code, ran.stderr) == (
        1,
        "python3: can't find '__main__' module in '/work/app'\n",
    )


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"\xef\xbb\xbfprint('bom')\n", "bom\n"),
        (b"x = 1\r\nprint(x)\r\n", "1\n"),
        (b"# -*- coding: latin-1 -*-\nprint('\xe9')\n", "é\n"),
        ("print('ü ●😊')".encode(), "ü ●😊\n"),
    ],
)
def test_encodings_of_a_file_as_in_cpython(python: Programs, content: bytes, shown: str) -> None:
    assert python(entry="main.py", files={"main.py": content}, check=True).stdout == shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# coding: foobar\nprint(1)\n", "SyntaxError: encoding problem: foobar"),
        (
            b"print(1)\nprint('\xff')\n",
            "SyntaxError: Non-UTF-8 code starting with '\\xff' in file /work/main.py on line 2, "
            "but no encoding declared; see https://peps.python.org/pep-0263/ for details",
        ),
        (b"print(1)\n\0\n", "SyntaxError: source code cannot contain null bytes"),
    ],
)
def test_undecodable_file_is_a_syntax_error(python: Programs, content: bytes, message: str) -> None:
    ran = python(entry="main.py", files={"main.py": content})
    assert ran.status is Status.FAILED
    assert ran.stderr.splitlines()[-1] == message


def test_modules_the_program_writes_can_be_imported(python: Programs) -> None:
    ran = python(
        """
        import importlib, os
        open('made.py', 'w').write('x = 1')
        import made
        os.makedirs('space/inner')
        open('space/inner/leaf.py', 'w').write('y = 2')
        importlib.invalidate_caches()
        import space.inner.leaf
        open('made.py', 'w').write('x = 33333')
        importlib.reload(made)
        print(made.x, space.inner.leaf.y, type(space.__path__).__name__)
        """,
        check=True,
    )
    assert ran.stdout == "33333 2 _NamespacePath\n"


def test_data_beside_a_module_is_found(python: Programs) -> None:
    ran = python(
        """
        import importlib.resources, pkgutil
        from pathlib import Path
        import pack
        print(importlib.resources.files('pack').joinpath('d.txt').read_text())
        print(pkgutil.get_data('pack', 'd.txt'), (Path(pack.__file__).parent / 'd.txt').exists())
        """,
        files={"pack/__init__.py": "", "pack/d.txt": "data"},
        check=True,
    )
    assert ran.stdout == "data\nb'data' True\n"


def test_runpy_runs_modules_and_files(python: Programs) -> None:
    ran = python(
        "import runpy\n"
        "runpy.run_module('pack', run_name='__main__')\nprint(runpy.run_path('s.py')['v'])",
        files={"pack/__init__.py": "", "pack/__main__.py": "print(__name__)", "s.py": "v = 5"},
        check=True,
    )
    assert ran.stdout == "__main__\n5\n"


@pytest.mark.parametrize("name", ["prog.py", "<code>"])
def test_source_of_the_program_can_be_inspected(python: Programs, name: str) -> None:
    ran = python(
        "import inspect\nclass C:\n    x = 1\ndef f():\n    return 2\n"
        "print(inspect.getsource(C) + inspect.getsource(f), inspect.getsourcelines(f)[1])",
        name=name,
        check=True,
    )
    assert ran.stdout == "class C:\n    x = 1\ndef f():\n    return 2\n 4\n"


def test_classes_of_main_pickle_and_have_hints(python: Programs) -> None:
    ran = python(
        """
        from __future__ import annotations
        import __main__, pickle
        from dataclasses import dataclass
        from typing import Optional, get_type_hints

        @dataclass
        class Node:
            value: int
            next: Optional[Node] = None

        copy = pickle.loads(pickle.dumps(Node(1, Node(2))))
        print(copy, type(copy) is __main__.Node, get_type_hints(Node)['value'])
        """,
        check=True,
    )
    assert ran.stdout.endswith("True <class 'int'>\n")


def test_environment_is_what_was_given(python: Programs) -> None:
    ran = python(
        """
        import os
        from pathlib import Path
        print(sorted(os.environ.items()), os.getenv('LEER') == '', Path.home())
        os.environ['NEW'] = '1'
        print(os.getenv('NEW'))
        """,
        environment={"GREETING": "grüß", "LEER": ""},
        check=True,
    )
    assert ran.stdout == (
        "[('GREETING', 'grüß'), ('HOME', '/work'), ('LANG', 'C.UTF-8'), ('LEER', ''), "
        "('TMPDIR', '/tmp'), ('TZ', 'UTC')] True /work\n1\n"
    )


def test_a_module_of_the_folder_comes_before_the_librarys(python: Programs) -> None:
    files = {
        "random.py": "mine = 1",
        "socket.py": "mine = 2",
        "html/__init__.py": "mine = 3",
        "json/data.txt": "a folder of data is not a package",
    }
    source = "import html, json, random, socket\nprint(random.mine, socket.mine, html.mine)\n"
    assert python(source + "json.dumps(1)", files=files, check=True).stdout == "1 2 3\n"


def test_modules_of_the_start_of_python_cannot_be_replaced(python: Programs) -> None:
    ran = python("import os, sys\nprint(os.getcwd())", files={"os.py": "1/0", "sys.py": "1/0"})
    assert ran.stdout == "/work\n"
