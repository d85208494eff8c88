# ruff: noqa: E501 - the lines of programs in another language
"""Errors that nobody caught, limits, and what the host is told of them."""

from __future__ import annotations

import pytest

from nova_desktop.model import KIB, MIB, Status
from tests.guest.conftest import Programs


def test_an_uncaught_error_prints_the_users_own_stack_and_exits_with_one(
    javascript: Programs,
) -> None:
    ran = javascript(
        "function outer() {\n  inner()\n}\nfunction inner() {\n  throw new TypeError('bad')\n}\nouter()"
    )
    assert (ran.status, ran.exit_code) == (Status.FAILED, 1)
    assert ran.stderr.splitlines() == [
        "Uncaught TypeError: bad",
        "    at inner (main.js:5:22)",
        "    at outer (main.js:2:8)",
        "    at <anonymous> (main.js:7:6)",
    ]
    assert ran.report is not None
    assert (ran.report.type, ran.report.message) == ("TypeError", "bad")


def test_no_frame_of_the_runtime_is_shown(javascript: Programs) -> None:
    programs = [
        "new URL('no')",
        "require('fs').readFileSync('no')",
        "setTimeout(() => { throw new Error('t') })",
        "process.on('exit', () => { throw new Error('e') })",
        "new (require('events'))().on('x', () => { throw new Error('l') }).emit('x')",
        "structuredClone(() => {})",
        "require('./lib.js')",
        "process.nextTick(() => { throw new Error('n') })",
    ]
    for program in programs:
        ran = javascript(program, files={"lib.js": "throw new Error('lib')"})
        frames = [line for line in ran.stderr.splitlines() if line.startswith("    at ")]
        assert ran.exit_code == 1
        assert frames, program
        for frame in frames:
            assert "main.js:1:" in frame or "/work/lib.js:1:" in frame, (program, ran.stderr)


def test_an_error_in_a_module_and_in_an_entry_names_its_file(javascript: Programs) -> None:
    ran = javascript("throw new Error('x')", name="main.mjs")
    assert ran.stderr == "Uncaught Error: x\n    at <anonymous> (main.mjs:1:16)\n"
    ran = javascript(entry="src/a.js", files={"src/a.js": "\nnull.x"})
    assert "(/work/src/a.js:2:" in ran.stderr


def test_a_syntax_error_is_placed_in_the_users_line_and_column(javascript: Programs) -> None:
    for name, line, source in [
        ("main.js", 1, "let a = ;"),
        ("main.js", 2, "import 'fs'\nlet b = ;"),
        ("main.mjs", 1, "let a = ;"),
        ("main.js", 3, "const a = 1\n\nlet b = ;"),
    ]:
        ran = javascript(source, name=name)
        assert ran.stderr.splitlines()[0].startswith("Uncaught SyntaxError: "), ran.stderr
        assert ran.stderr.splitlines()[1] == f"    at {name}:{line}:9", ran.stderr


def test_an_unhandled_rejection_is_told_and_fails_the_program(javascript: Programs) -> None:
    ran = javascript("console.log('before'); Promise.reject(new Error('lost'))")
    assert ran.exit_code == 1
    assert ran.stdout == "before\n"
    assert ran.stderr.startswith("Uncaught (in promise) Error: lost\n    at ")


def test_a_rejection_that_is_handled_in_the_same_drain_is_not_reported(
    javascript: Programs,
) -> None:
    ran = javascript(
        "const p = Promise.reject(1); queueMicrotask(() => p.catch(() => console.log('handled')))",
        check=True,
    )
    assert ran.stdout == "handled\n"
    late = javascript("const p = Promise.reject(1); setTimeout(() => p.catch(() => {}))")
    assert late.exit_code == 1  # the control: a later turn is too late, as in Node


def test_many_rejections_that_are_handled_cost_little(javascript: Programs) -> None:
    ran = javascript(
        "const all = []; for (let i = 0; i < 20000; i++) all.push(Promise.reject(i));"
        "console.log((await Promise.allSettled(all)).length)",
        check=True,
    )
    assert ran.stdout == "20000\n"
    assert ran.seconds < 5


@pytest.mark.parametrize(
    ("thrown", "shown"),
    [
        ("'text'", "'text'"),
        ("{ a: 1 }", "{ a: 1 }"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("Symbol('s')", "Symbol(s)"),
        ("42", "42"),
        ("Object.create(null)", "[Object: null prototype] {}"),
    ],
)
def test_anything_can_be_thrown(javascript: Programs, thrown: str, shown: str) -> None:
    ran = javascript(f"throw {thrown}")
    assert (ran.exit_code, ran.stderr) == (1, f"Uncaught {shown}\n")


def test_an_undefined_global_is_named_in_the_report(javascript: Programs) -> None:
    for name in ["fetch", "Intl", "document", "Deno"]:
        report = javascript(f"{name}.x").report
        assert report is not None
        assert (report.type, report.module) == ("ReferenceError", name)


def test_the_first_error_ends_the_program(javascript: Programs) -> None:
    ran = javascript(
        "setTimeout(() => console.log('no'), 1); Promise.resolve().then(() => console.log('no')); throw new Error('x')"
    )
    assert (ran.exit_code, ran.stdout) == (1, "")


def test_a_program_may_take_its_uncaught_errors(javascript: Programs) -> None:
    ran = javascript(
        """
        process.on('uncaughtException', (e, origin) => console.log(e.message, origin))
        setTimeout(() => { throw new Error('timer') })
        setTimeout(() => Promise.reject(new Error('promise')), 2)
        setTimeout(() => console.log('still here'), 5)
        throw new Error('main')
        """,
        check=True,
    )
    assert ran.stdout == (
        "main uncaughtException\ntimer uncaughtException\npromise unhandledRejection\nstill here\n"
    )


def test_exit_listeners_run_after_an_uncaught_error(javascript: Programs) -> None:
    ran = javascript("process.on('exit', (c) => console.log('code', c)); null.x")
    assert (ran.exit_code, ran.stdout) == (1, "code 1\n")


@pytest.mark.parametrize(
    "source",
    [
        "while (true) {}",
        "(function f() { Promise.resolve().then(f) })()",
        "(function f() { process.nextTick(f) })()",
        "(function f() { queueMicrotask(f) })()",
        "/(a+)+$/.test('a'.repeat(50) + 'b')",
        "setInterval(() => {}, 0)",
        "setTimeout(() => {}, 1e9)",
        "(3n ** 600000n).toString(); for (;;) (3n ** 600000n).toString()",
        "for (;;) try { for (;;) {} } catch {} finally { continue }",
        "process.on('exit', () => { for (;;) {} })",
        "for (const x of (function* () { for (;;) yield 1 })()) {}",
    ],
)
def test_a_program_that_does_not_end_is_ended_and_keeps_its_output(
    javascript: Programs, source: str
) -> None:
    ran = javascript(f"console.log('partial'); {source}", timeout_s=0.4)
    assert ran.status is Status.TIMED_OUT
    assert ran.seconds < 1.5
    assert "partial\n" in ran.stdout


@pytest.mark.parametrize(
    "source",
    [
        "function f() { f() } f()",
        "const o = { get x() { return this.x } }; o.x",
        "function f() { return [1].map(f) } f()",
        "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
        "const o = { toString() { return `${this}` } }; `${o}`",
        "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
        "class A { x = new A() } new A()",
        "function f() { 'a'.replace(/a/, f) } f()",
        "function f() { eval('f()') } f()",
        "eval('{'.repeat(1e5))",
    ],
)
def test_runaway_recursion_is_an_error_that_can_be_caught(
    javascript: Programs, source: str
) -> None:
    ran = javascript(f"try {{ {source} }} catch (e) {{ console.log(e.message) }}", check=True)
    assert "stack overflow" in ran.stdout
    uncaught = javascript(source)
    assert (uncaught.exit_code, uncaught.status) == (1, Status.FAILED)


def test_recursion_of_a_usual_depth_works(javascript: Programs) -> None:
    ran = javascript(
        "const f = (n) => (n === 0 ? 0 : 1 + f(n - 1)); console.log(f(5000))", check=True
    )
    assert ran.stdout == "5000\n"


def test_recursion_that_only_the_engine_sees_is_a_limit(javascript: Programs) -> None:
    ran = javascript("console.log('kept'); JSON.parse('['.repeat(1e6))")
    assert (ran.status, ran.error_code) == (Status.LIMIT, "run.stack_exhausted")


def test_memory_that_is_used_up_is_told_by_the_program_and_the_host(javascript: Programs) -> None:
    for source in [
        "const a = []; for (;;) a.push(new Array(1000).fill(1))",
        "const a = []; for (;;) a.push('y'.repeat(1000) + a.length)",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
    ]:
        ran = javascript(f"console.log('kept'); {source}", memory_bytes=64 * MIB)
        assert (ran.status, ran.stdout) == (Status.OUT_OF_MEMORY, "kept\n"), (source, ran)
        assert "out of memory" in ran.stderr


def test_running_out_of_memory_at_any_moment_is_the_programs_own_error(
    javascript: Programs,
) -> None:
    """The last allocation is another one each time: an object, its stack, a handler's text."""
    for step in range(12):
        ran = javascript(
            "const a = []; for (;;) a.push({ x: 1, y: [1, 2, 'z' + a.length] })",
            memory_bytes=16 * MIB + step * 3 * 64 * KIB,
        )
        assert ran.status is Status.OUT_OF_MEMORY, (step, ran)
        assert ran.exit_code == 1
        assert "out of memory" in ran.stderr


def test_a_program_can_cope_with_a_refused_allocation(javascript: Programs) -> None:
    ran = javascript(
        "try { new Uint8Array(2 ** 30) } catch (e) { console.log(e.message) } console.log([1].map((x) => x + 1))",
        memory_bytes=64 * MIB,
        check=True,
    )
    assert ran.stdout == "out of memory\n[ 2 ]\n"


def test_garbage_with_cycles_is_collected(javascript: Programs) -> None:
    ran = javascript(
        "for (let i = 0; i < 300000; i++) { const a = { pad: [1, 2, 3] }; a.a = a } console.log('done')",
        memory_bytes=32 * MIB,
        check=True,
    )
    assert ran.stdout == "done\n"


def test_a_missing_entry_is_one_plain_line(javascript: Programs) -> None:
    ran = javascript(entry="no.js")
    assert ran.exit_code == 1
    assert len(ran.stderr.splitlines()) == 1


def test_a_program_of_odd_bytes_is_a_syntax_error_or_runs(javascript: Programs) -> None:
    binary = javascript(entry="a.js", files={"a.js": bytes(range(256))})
    assert (binary.exit_code, "SyntaxError" in binary.stderr) == (1, True)
    latin = javascript(entry="a.js", files={"a.js": b"console.log('caf\xe9'.length > 3)"})
    assert latin.status in (Status.FINISHED, Status.FAILED)
    marked = javascript(entry="a.js", files={"a.js": b"\xef\xbb\xbfconsole.log('bom')"})
    assert marked.stdout == "bom\n"
    empty = javascript("")
    assert empty.status is Status.FINISHED
