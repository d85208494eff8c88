"""How a Python program ends: exit codes, tracebacks and what CPython does on its way out."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("sys.exit()", 0),
        ("sys.exit(None)", 0),
        ("sys.exit(0)", 0),
        ("sys.exit(3)", 3),
        ("sys.exit(True)", 1),
        ("sys.exit(-1)", 255),
        ("sys.exit(256)", 0),
        ("sys.exit(2**40 + 5)", 5),
        ("sys.exit(2**70)", 255),
        ("raise SystemExit", 0),
        ("exit(5)", 5),
        ("quit()", 0),
        ("os._exit(7)", 7),
    ],
)
def test_exit_code_is_that_of_cpython(python: Programs, statement: str, code: int) -> None:
    ran = python(f"import os, sys\nprint('before', flush=True)\n{statement}\nprint('after')")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (code, "before\n", "")
    assert ran.status is (Status.FAILED if code else Status.FINISHED)


@pytest.mark.parametrize("value", ["'bad thing'", "1.5", "(1, 2)", "[1]"])
def test_exit_with_a_text_prints_it_and_fails(python: Programs, value: str) -> None:
    ran = python(f"import sys\nsys.exit({value})")
    assert (ran.exit_code, ran.stderr) == (1, f"{value.strip(chr(39))}\n")
    assert ran.report is None


def test_keyboard_interrupt_ends_as_in_a_shell(python: Programs) -> None:
    ran = python("raise KeyboardInterrupt")
    assert ran.exit_code == 130
    assert ran.stderr.endswith("KeyboardInterrupt\n")


def test_traceback_shows_the_programs_own_lines_and_nothing_else(python: Programs) -> None:
    ran = python("def f(x):\n    return 1 / x\n\nf(0)\n", name="report.py")
    assert ran.exit_code == 1
    assert ran.stderr == (
        "Traceback (most recent call last):\n"
        '  File "report.py", line 4, in <module>\n'
        "    f(0)\n"
        "    ~^^^\n"
        '  File "report.py", line 2, in f\n'
        "    return 1 / x\n"
        "           ~~^~~\n"
        "ZeroDivisionError: division by zero\n"
    )
    assert ran.report is not None
    assert (ran.report.type, ran.report.message) == ("ZeroDivisionError", "division by zero")


@pytest.mark.parametrize("name", ["<code>", "<stdin>", "näme mit leer.py"])
def test_source_lines_are_shown_under_any_name(python: Programs, name: str) -> None:
    ran = python("value = {}\nvalue['missing']\n", name=name)
    assert f"  File \"{name}\", line 2, in <module>\n    value['missing']\n" in ran.stderr


def test_chained_exceptions_notes_and_groups_are_shown(python: Programs) -> None:
    ran = python(
        """
        try:
            try:
                {}['a']
            except KeyError as error:
                raise ValueError('bad') from error
        except ValueError as error:
            error.add_note('a note')
            raise ExceptionGroup('many', [error, TypeError('t')])
        """
    )
    for part in (
        "KeyError: 'a'",
        "The above exception was the direct cause of the following exception:",
        "a note",
        "ExceptionGroup: many (2 sub-exceptions)",
        "| TypeError: t",
    ):
        assert part in ran.stderr


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("x = (1,\n", "    x = (1,\n        ^\nSyntaxError: '(' was never closed\n"),
        ("def f(:\n  pass\n", "SyntaxError: invalid syntax\n"),
        ("if 1:\nprint(2)\n", "IndentationError: expected an indented block after 'if'"),
        ("print 'a'\n", "SyntaxError: Missing parentheses in call to 'print'."),
        ("print(1)\n\0\n", "SyntaxError: source code cannot contain null bytes\n"),
    ],
)
def test_syntax_error_has_no_frames(python: Programs, source: str, shown: str) -> None:
    ran = python(source)
    assert ran.exit_code == 1
    assert ran.stderr.startswith('  File "prog.py", line ')
    assert shown in ran.stderr
    assert ran.report is not None
    assert ran.report.type in ("SyntaxError", "IndentationError")


def test_stack_of_the_program_has_no_frame_below_it(python: Programs) -> None:
    ran = python(
        """
        import inspect, sys, traceback

        def f():
            return [frame.function for frame in inspect.stack()]

        print(f(), sys._getframe().f_back, len(traceback.extract_stack()))
        """,
        check=True,
    )
    assert ran.stdout == "['f', '<module>'] None 1\n"


def test_input_without_stdin_is_an_end_of_file(python: Programs) -> None:
    ran = python("input('name? ')")
    assert ran.exit_code == 1
    assert ran.stdout == "name? "
    assert ran.stderr.endswith("EOFError: EOF when reading a line\n")
    assert ran.report is not None
    assert ran.report.type == "EOFError"
    assert ran.seconds < 5


def test_input_reads_lines_and_the_rest_is_left(python: Programs) -> None:
    ran = python(
        "import sys\nprint([input('? '), input(), sys.stdin.read()])",
        stdin=b"one\ntwo\nthree\nfour",
        check=True,
    )
    assert ran.stdout == "? ['one', 'two', 'three\\nfour']\n"


def test_atexit_handlers_run_last_first_also_after_an_exception(python: Programs) -> None:
    ran = python(
        """
        import atexit
        atexit.register(print, 'first registered')
        atexit.register(lambda: 1 / 0)
        raise KeyError('k')
        """
    )
    assert ran.exit_code == 1
    assert ran.stdout == "first registered\n"
    assert "KeyError: 'k'" in ran.stderr
    assert "Exception ignored in atexit callback" in ran.stderr


def test_output_without_a_newline_is_kept_also_after_an_exception(python: Programs) -> None:
    ran = python("import sys\nprint('a', end='')\nsys.stderr.write('e')\n1/0")
    assert ran.stdout == "a"
    assert ran.stderr.startswith("eTraceback")


@pytest.mark.parametrize("last", ["", "1/0", "import sys; sys.exit(2)", "f.me = [f]"])
def test_files_left_open_are_flushed_at_the_end(python: Programs, last: str) -> None:
    source = f"class F: pass\nf = F()\nf.file = open('out.txt', 'w')\nf.file.write('data')\n{last}"
    assert python(source).files["out.txt"] == b"data"


def test_destructors_and_generators_end_with_the_program(python: Programs) -> None:
    ran = python(
        """
        class Noisy:
            def __del__(self):
                print('deleted', self.name)

        def generator():
            try:
                yield 1
            finally:
                print('closed')

        a, b = Noisy(), Noisy()
        a.name, b.name, b.itself = 'a', 'b', b
        running = generator()
        next(running)
        """,
        check=True,
    )
    assert sorted(ran.stdout.split("\n")) == ["", "closed", "deleted a", "deleted b"]


def test_excepthook_of_the_program_is_used(python: Programs) -> None:
    ran = python("import sys\nsys.excepthook = lambda t, v, tb: print('hook', v)\n1/0")
    assert (ran.exit_code, ran.stdout, ran.stderr) == (1, "hook division by zero\n", "")


def test_failing_excepthook_shows_both_exceptions(python: Programs) -> None:
    ran = python("import sys\ndef h(*a): raise TypeError('in hook')\nsys.excepthook = h\n1/0")
    assert ran.exit_code == 1
    assert ran.stderr.startswith("Error in sys.excepthook:\nTraceback")
    assert ran.stderr.index("TypeError: in hook") < ran.stderr.index("Original exception was:")
    assert ran.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "_nova_guest" not in ran.stderr


@pytest.mark.parametrize(
    "breaking",
    [
        "sys.stderr = None",
        "sys.stderr.close()",
        "del sys.stderr",
        "sys.stderr = object()",
        "sys.stdout = sys.stderr = type('Broken', (), {'write': None})()",
    ],
)
def test_traceback_is_shown_even_if_stderr_is_broken(python: Programs, breaking: str) -> None:
    ran = python(f"import sys\n{breaking}\n1/0")
    if "close" not in breaking:
        assert "ZeroDivisionError: division by zero\n" in ran.stderr
    assert ran.report is not None
    assert ran.report.type == "ZeroDivisionError"


def test_unflushable_stdout_is_told_by_the_exit_code(python: Programs) -> None:
    ran = python(
        """
        import sys
        class Broken:
            def write(self, text): pass
            def flush(self): raise OSError('no flush')
        sys.stdout = Broken()
        """
    )
    assert ran.exit_code == 120
    assert "OSError: no flush" in ran.stderr


def test_exception_whose_text_fails_is_still_reported(python: Programs) -> None:
    ran = python("class E(Exception):\n    def __str__(self): raise TypeError\nraise E")
    assert ran.stderr.endswith("E: <exception str() failed>\n")
    assert ran.report is not None
    assert ran.report.type == "E"


def test_report_names_the_missing_module_and_the_missing_path(python: Programs) -> None:
    report = python("import no_such.module").report
    assert report is not None
    assert (report.type, report.module) == ("ModuleNotFoundError", "no_such")
    for text in ("'C:\\\\data\\\\x.csv'", "b'/home/me/x.csv'", "__import__('pathlib').Path('/x')"):
        report = python(f"open({text})").report
        assert report is not None
        assert report.type == "FileNotFoundError"
        assert report.path
        assert report.path in text.replace("\\\\", "\\")


def test_lone_surrogates_and_bytes_that_are_no_text(python: Programs) -> None:
    ran = python("print('\\udcff')\nimport sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\n')")
    assert ran.raw_stdout == b"\xff\n\xff\xfe\n"
    ran = python("print('\\ud800')")
    assert ran.exit_code == 1
    assert "surrogates not allowed" in ran.stderr
    ran = python("open('\\udcff', 'w')")
    assert ran.stderr.endswith("OSError: [Errno 25] Illegal byte sequence: '\\udcff'\n")


def test_output_keeps_the_order_of_the_two_streams(python: Programs) -> None:
    ran = python("import sys\nfor i in range(3): print(i); print('e', i, file=sys.stderr)")
    assert (ran.stdout, ran.stderr) == ("0\n1\n2\n", "e 0\ne 1\ne 2\n")


def test_warnings_show_the_programs_line(python: Programs) -> None:
    ran = python("import warnings\nwarnings.warn('careful')\nx = 1 is 1\n", check=True)
    assert "prog.py:2: UserWarning: careful\n  warnings.warn('careful')\n" in ran.stderr
    assert "prog.py:3: SyntaxWarning: \"is\" with 'int' literal" in ran.stderr


def test_a_raised_recursion_limit_gives_a_bounded_traceback(python: Programs) -> None:
    ran = python("import sys\nsys.setrecursionlimit(200_000)\ndef f(): f()\nf()")
    assert ran.stderr.endswith("RecursionError: maximum recursion depth exceeded\n")
    assert len(ran.stderr) < 20_000
