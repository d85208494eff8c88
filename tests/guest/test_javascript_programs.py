# ruff: noqa: E501 - the lines of programs in another language
"""How a JavaScript program starts, waits, ends and sees its surroundings."""

from __future__ import annotations

import time

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


def test_the_order_of_ticks_microtasks_timers_and_immediates(javascript: Programs) -> None:
    printed = javascript(
        """
        setTimeout(() => console.log('timeout'), 0)
        setImmediate(() => console.log('immediate'))
        process.nextTick(() => console.log('tick'))
        Promise.resolve().then(() => console.log('promise'))
        queueMicrotask(() => console.log('microtask'))
        console.log('sync')
        """,
        check=True,
    ).stdout
    assert printed.split() == ["sync", "tick", "promise", "microtask", "timeout", "immediate"]


def test_timers_run_by_their_time_and_intervals_until_cleared(javascript: Programs) -> None:
    printed = javascript(
        """
        setTimeout(() => console.log('late'), 120)
        setTimeout(() => console.log('early'), 60)
        clearTimeout(setTimeout(() => console.log('never'), 1))
        let n = 0
        const timer = setInterval(() => { if (++n === 3) clearInterval(timer); console.log(n) }, 1)
        """,
        check=True,
    ).stdout
    assert printed.split() == ["1", "2", "3", "early", "late"]


def test_microtasks_run_between_two_timers(javascript: Programs) -> None:
    printed = javascript(
        """
        for (const name of ['a', 'b'])
            setTimeout(() => { console.log(name); Promise.resolve().then(() => console.log(name + '!')) })
        """,
        check=True,
    ).stdout
    assert printed.split() == ["a", "a!", "b", "b!"]


def test_timers_pass_arguments_and_may_be_cleared_by_number(javascript: Programs) -> None:
    printed = javascript(
        "setTimeout(console.log, 1, 'x', 'y'); clearTimeout(+setTimeout(console.log, 1, 'no'))",
        check=True,
    ).stdout
    assert printed == "x y\n"


def test_a_timer_that_sets_itself_again_does_not_starve_immediates(
    javascript: Programs,
) -> None:
    ran = javascript(
        """
        let n = 0
        setTimeout(function again() { if (++n < 1000) setTimeout(again) })
        setImmediate(() => console.log(n < 10))
        """,
        check=True,
    )
    assert ran.stdout == "true\n"


def test_an_unreferenced_timer_does_not_keep_the_program(javascript: Programs) -> None:
    started = time.monotonic()
    assert javascript("setTimeout(() => console.log('no'), 60000).unref()", check=True).stdout == ""
    assert time.monotonic() - started < 5


def test_a_sleep_takes_its_time(javascript: Programs) -> None:
    printed = javascript(
        "const t = performance.now(); await new Promise(r => setTimeout(r, 50));"
        "console.log(performance.now() - t >= 49)",
        check=True,
    ).stdout
    assert printed == "true\n"


def test_promises_settle_before_the_exit(javascript: Programs) -> None:
    printed = javascript(
        "(async () => { for (let i = 0; i < 3; i++) { await null; console.log(i) } })()", check=True
    ).stdout
    assert printed == "0\n1\n2\n"


def test_exit_code_is_taken_from_exit_and_from_exit_code(javascript: Programs) -> None:
    assert javascript("process.exit(7)").exit_code == 7
    assert javascript("process.exitCode = 3").exit_code == 3
    assert javascript("process.exit()").status is Status.FINISHED


def test_exit_ends_at_once_and_cannot_be_caught(javascript: Programs) -> None:
    ran = javascript(
        "try { process.exit(4) } catch { console.log('caught') } finally { console.log('no') }"
    )
    assert (ran.exit_code, ran.stdout) == (4, "")


def test_exit_listeners_run_once_and_may_change_the_code(javascript: Programs) -> None:
    ran = javascript("process.on('exit', (c) => { console.log('bye', c); process.exitCode = 9 })")
    assert (ran.exit_code, ran.stdout) == (9, "bye 0\n")


def test_output_before_exit_is_kept(javascript: Programs) -> None:
    assert (
        javascript("process.stdout.write('x'.repeat(100000)); process.exit(0)").stdout
        == "x" * 100_000
    )


def test_arguments_environment_and_directory(javascript: Programs) -> None:
    ran = javascript(
        "console.log(process.argv, process.env.GREETING, 'PATH' in process.env, process.cwd())",
        arguments=("-v", "ü"),
        environment={"GREETING": "hello"},
    )
    assert ran.stdout == "[ 'nova', 'main.js', '-v', 'ü' ] hello false /work\n"


def test_named_exports_of_process_are_those_of_this_run(javascript: Programs) -> None:
    ran = javascript(
        "import { argv, env } from 'node:process'; console.log(argv.length, env.A)",
        arguments=("x",),
        environment={"A": "b"},
    )
    assert ran.stdout == "3 b\n"


def test_standard_input_is_read_whole_by_descriptor(javascript: Programs) -> None:
    assert (
        javascript(
            "console.log(require('fs').readFileSync(0, 'utf8').trim())",
            stdin=b"h\xc3\xa9\n",
            check=True,
        ).stdout
        == "hé\n"
    )


def test_standard_input_is_a_stream(javascript: Programs) -> None:
    printed = javascript(
        "let all = ''; process.stdin.on('data', (c) => { all += c });"
        "process.stdin.on('end', () => console.log(all.length))",
        stdin=b"12345",
        check=True,
    ).stdout
    assert printed == "5\n"


def test_standard_input_is_an_async_iterable(javascript: Programs) -> None:
    printed = javascript(
        "let s = ''; for await (const c of process.stdin) s += c; console.log(s)",
        stdin=b"abc",
        check=True,
    ).stdout
    assert printed == "abc\n"


def test_readline_gives_lines(javascript: Programs) -> None:
    printed = javascript(
        """
        const rl = require('readline').createInterface({ input: process.stdin })
        rl.on('line', (line) => console.log('<' + line + '>')).on('close', () => console.log('end'))
        """,
        stdin=b"one\r\ntwo\nthree",
        check=True,
    ).stdout
    assert printed == "<one>\n<two>\n<three>\nend\n"


def test_readline_answers_questions_from_standard_input(javascript: Programs) -> None:
    printed = javascript(
        """
        import readline from 'node:readline/promises'
        const rl = readline.createInterface({ input: process.stdin, output: process.stdout })
        console.log(await rl.question('name? '), await rl.question('age? '))
        rl.close()
        """,
        stdin=b"Ann\n7\n",
        check=True,
    ).stdout
    assert printed == "name? age? Ann 7\n"


def test_without_standard_input_it_is_empty(javascript: Programs) -> None:
    assert (
        javascript(
            "for await (const c of process.stdin) console.log(c); console.log('end')", check=True
        ).stdout
        == "end\n"
    )


def test_each_run_has_its_own_random_numbers(javascript: Programs) -> None:
    program = "console.log(Math.random(), crypto.randomUUID(), require('crypto').randomBytes(8).toString('hex'))"
    seen = {javascript(program, check=True).stdout for _ in range(4)}
    assert len(seen) == 4
    assert len({word for line in seen for word in line.split()}) == 12


def test_each_run_has_its_own_clock(javascript: Programs) -> None:
    before = time.time() * 1000
    now = float(javascript("console.log(Date.now())", check=True).stdout)
    assert before - 5 <= now <= time.time() * 1000 + 5
    assert 0 <= float(javascript("console.log(performance.now())", check=True).stdout) < 1000
    assert (
        abs(
            float(javascript("console.log(performance.timeOrigin)", check=True).stdout)
            - time.time() * 1000
        )
        < 5000
    )


def test_nothing_is_left_for_the_next_run(javascript: Programs) -> None:
    javascript(
        """
        globalThis.left = 1; Object.prototype.left = 1; require('fs').left = 1; process.left = 1
        require('fs').writeFileSync('/work/left', 'x'); require('fs').writeFileSync('/tmp/left', 'x')
        process.chdir('/tmp'); process.on('exit', () => console.log('from before'))
        """
    )
    printed = javascript(
        """
        const fs = require('fs')
        console.log(typeof left, {}.left, fs.left, process.left, process.cwd())
        console.log(fs.existsSync('/work/left'), fs.existsSync('/tmp/left'))
        """,
        check=True,
    ).stdout
    assert printed == "undefined undefined undefined undefined /work\nfalse false\n"


def test_a_program_after_a_hash_bang_line(javascript: Programs) -> None:
    assert javascript("#!/usr/bin/env node\nconsole.log('ok')", check=True).stdout == "ok\n"


def test_a_script_may_return_and_has_the_names_of_commonjs(javascript: Programs) -> None:
    printed = javascript(
        "console.log(require.main === module, exports === module.exports, __filename, __dirname)\n"
        "return\nconsole.log('no')",
        check=True,
    ).stdout
    assert printed == "true true /work/main.js /work\n"


def test_variables_of_a_script_are_not_globals(javascript: Programs) -> None:
    assert (
        javascript(
            "var mine = 1; function f() {}; console.log(globalThis.mine, globalThis.f)", check=True
        ).stdout
        == "undefined undefined\n"
    )


@pytest.mark.parametrize(
    ("source", "is_module"),
    [
        ("import 'fs'", True),
        ("export const a = 1", True),
        ("await null", True),
        ("const x = await (async () => 1)()", True),
        ("async function f() { await (1) }", False),
        ("const text = `import x`", False),
        ("import('fs')", False),
    ],
)
def test_what_has_module_syntax_is_a_module(
    javascript: Programs, source: str, is_module: bool
) -> None:
    printed = javascript(f"{source}\n;console.log(typeof module)", check=True).stdout
    assert printed == ("undefined\n" if is_module else "object\n")


def test_a_name_in_mjs_makes_a_module(javascript: Programs) -> None:
    assert (
        javascript("console.log(this, typeof module)", name="main.mjs", check=True).stdout
        == "undefined undefined\n"
    )


def test_a_top_level_await_that_never_ends_is_told(javascript: Programs) -> None:
    ran = javascript("await new Promise(() => {})")
    assert ran.exit_code == 13
    assert "top-level await" in ran.stderr


def test_the_time_zone_of_the_request_is_that_of_dates(javascript: Programs) -> None:
    program = (
        "const d = new Date(2024, 6, 1), w = new Date(2024, 0, 1);"
        "console.log(d.getTimezoneOffset(), w.getTimezoneOffset(), d.toISOString())"
    )
    utc = javascript(program, check=True)
    assert utc.stdout == "0 0 2024-07-01T00:00:00.000Z\n"
    berlin = javascript(program, timezone="Europe/Berlin", check=True)
    assert berlin.stdout == "-120 -60 2024-06-30T22:00:00.000Z\n"


def test_es2023_is_there(javascript: Programs) -> None:
    printed = javascript(
        """
        const a = [3, 1, 2]
        console.log(a.toSorted(), a.toReversed(), a.with(0, 9), a.findLast((x) => x < 3), a.at(-1))
        console.log(Object.groupBy(a, (x) => (x % 2 ? 'odd' : 'even')).odd, 'a-b-a'.replaceAll('a', 'x'))
        class C { #p = 1; static { this.s = 2 } has(o) { return #p in o } }
        console.log(new C().has(new C()), C.s, 1_000, 2n ** 64n, null ?? 'd', [1, [2, [3]]].flat(Infinity))
        label: for (const [k, v] of Object.entries({ a: 1 })) { console.log(k, v); break label }
        console.log(/(?<y>\\d{4})/.exec('in 2024').groups.y, structuredClone({ a: [1] }))
        """,
        check=True,
    ).stdout
    assert printed == (
        "[ 1, 2, 3 ] [ 2, 1, 3 ] [ 9, 1, 2 ] 2 2\n"
        "[ 3, 1 ] x-b-x\n"
        "true 2 1000 18446744073709551616n d [ 1, 2, 3 ]\n"
        "a 1\n"
        "2024 { a: [ 1 ] }\n"
    )
