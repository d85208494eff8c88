# ruff: noqa: E501 - the lines of programs in another language
"""Programs that turn the language against its runtime: they may hurt themselves only."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs

POISON = """
{
  const poison = () => { throw new Error('poisoned') }
  const { ownKeys, defineProperty } = Reflect
  const descriptor = { __proto__: null, get: poison, set: poison, configurable: true }
  const types = [Array, String, Number, Function, Map, Set, Promise, Error, RegExp, Symbol, Date, Object]
  for (let i = 0; i < types.length; i++) {
    const { prototype } = types[i], keys = ownKeys(prototype)
    for (let j = 0; j < keys.length; j++)
      if (keys[j] !== 'constructor' && keys[j] !== 'length') defineProperty(prototype, keys[j], descriptor)
  }
}
"""
"""Every method of the common prototypes throws, even when it is only looked at."""

REPLACE = """
{
  const names = ['Array', 'Object', 'Map', 'Set', 'String', 'Error', 'Promise', 'JSON', 'Reflect', 'Symbol', 'Uint8Array']
  for (let i = 0; i < names.length; i++) globalThis[names[i]] = undefined
}
"""


@pytest.mark.parametrize(
    "attack",
    [POISON, REPLACE, POISON + REPLACE],
    ids=["poisoned prototypes", "missing globals", "both"],
)
def test_exit_and_reporting_work_whatever_a_program_did_to_the_language(
    javascript: Programs, attack: str
) -> None:
    failed = javascript(f"{attack}; throw 'the end'")
    assert (failed.status, failed.exit_code) == (Status.FAILED, 1)
    assert failed.stderr.startswith("Uncaught ")
    assert failed.report is not None
    assert failed.report.message == "'the end'"
    left = javascript(f"{attack}; process.exit(5)")
    assert (left.status, left.exit_code) == (Status.FAILED, 5)


def test_printing_text_and_timers_work_with_poisoned_prototypes(javascript: Programs) -> None:
    ran = javascript(
        f"const {{ log }} = console; {POISON}; setTimeout(() => log('timer'), 2); log('text'); log('n', 1)"
    )
    assert ran.stdout == "text\nn 1\ntimer\n", ran.stderr


def test_index_setters_on_prototypes_do_not_reach_the_runtime(javascript: Programs) -> None:
    ran = javascript(
        """
        for (let i = 0; i < 10; i++) {
            Object.defineProperty(Array.prototype, i, { set(v) { seen++ }, get() { return 'mine' }, configurable: true })
            Object.defineProperty(Object.prototype, i, { set(v) { seen++ }, get() { return 'mine' }, configurable: true })
        }
        let seen = 0
        console.log({ a: 1, b: [] }, new Map([]), 'x'); setTimeout(() => console.log('t', seen))
        process.nextTick(() => console.log('tick'))
        """,
    )
    assert ran.stdout.splitlines()[-2:] == ["tick", "t 0"]


def test_then_and_iterator_hooks_do_not_reach_the_runtime(javascript: Programs) -> None:
    ran = javascript(
        """
        Object.prototype.then = function (r) { r('hijacked') }
        Array.prototype[Symbol.iterator] = function* () { yield 'hijacked' }
        console.log(['a'], 'b'); process.exitCode = 0
        """
    )
    assert "[ 'a' ] b" in ran.stdout


def test_an_error_that_lies_about_itself_is_still_reported(javascript: Programs) -> None:
    for source in [
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
        "class E extends Error { get name() { throw 2 } } throw new E('x')",
        "throw new Proxy(new Error('x'), { get() { throw 3 }, getPrototypeOf() { throw 4 }, ownKeys() { throw 5 } })",
        "throw { [Symbol.for('nodejs.util.inspect.custom')]() { throw 6 } }",
        "throw { get [Symbol.toStringTag]() { throw 7 } }",
        "const e = new Error('x'); e.code = { toString() { throw 8 } }; e.path = 9; throw e",
        "const e = new Error('x'); e.name = 'n'.repeat(1e6); e.message = '\\u0000\\ud800\"\\\\'.repeat(1e5); throw e",
    ]:
        ran = javascript(source)
        assert (ran.status, ran.exit_code) == (Status.FAILED, 1), (source, ran)
        assert ran.stderr.startswith("Uncaught "), (source, ran.stderr[:200])
        assert ran.report is not None, source


def test_a_handler_of_errors_that_fails_does_not_hide_the_failure(javascript: Programs) -> None:
    ran = javascript(
        "process.on('uncaughtException', () => { throw new Error('handler') }); throw 1"
    )
    assert ran.exit_code == 1
    assert "handler" in ran.stderr


def test_exit_listeners_cannot_stop_the_exit(javascript: Programs) -> None:
    ran = javascript("process.on('exit', () => { process.exit(3) }); process.exit(2)")
    assert ran.exit_code == 3
    again = javascript("process.on('exit', () => { setTimeout(() => console.log('no'), 1) })")
    assert (again.exit_code, again.stdout) == (0, "")


def test_a_program_cannot_replace_how_it_is_ended(javascript: Programs) -> None:
    ran = javascript(
        """
        process.emit = process.exit = process.listenerCount = () => { throw new Error('replaced') }
        Object.defineProperty(process, 'exitCode', { get() { return 77 } })
        globalThis.process = { exitCode: 66 }
        """
    )
    assert (ran.status, ran.exit_code) == (Status.FINISHED, 0)


@pytest.mark.security
@pytest.mark.parametrize(
    "specifier",
    [
        "nova:native",
        "nova:main",
        "node:../nova:native",
        "node:native",
        "nova:fs_errors",
        "/nova:native",
        "file:///nova:native",
        "NOVA:native",
        "nova:native.js",
    ],
)
def test_the_inside_of_the_runtime_cannot_be_imported(javascript: Programs, specifier: str) -> None:
    for source in [
        f"import('{specifier}').then((m) => console.log('REACHED', m))",
        f"console.log('REACHED', require('{specifier}'))",
        f"import * as m from '{specifier}'; console.log('REACHED', m)",
    ]:
        ran = javascript(source)
        assert "REACHED" not in ran.stdout
        assert "Cannot find module" in ran.stderr
    control = javascript("import('node:fs').then((m) => console.log('REACHED'))")
    assert control.stdout == "REACHED\n"


@pytest.mark.security
def test_names_that_pose_as_the_runtimes_own_reach_nothing(javascript: Programs) -> None:
    for name in ["nova:main", "node:fs", "nova:native", "<request>", "../../nova:main"]:
        ran = javascript("import('nova:native').then(() => console.log('REACHED'))", name=name)
        assert "REACHED" not in ran.stdout
    ran = javascript("import 'fs'; console.log('ran')", name="nova:inspect")
    assert ran.stdout == "ran\n"


@pytest.mark.security
def test_no_object_leads_to_the_native_functions(javascript: Programs) -> None:
    """Walks everything that a program can reach, through properties, prototypes and getters."""
    ran = javascript(
        """
        const names = new Set(['hostCall', 'compileScript', 'proxyTarget', 'readDirectory', 'fillRandom'])
        const seen = new Set(), found = []
        const queue = [globalThis, require('module'), require('fs'), require('util'), await import('node:process')]
        while (queue.length > 0) {
            const value = queue.pop()
            if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue
            seen.add(value)
            for (const key of Reflect.ownKeys(value)) {
                const d = Reflect.getOwnPropertyDescriptor(value, key)
                if (names.has(key) || (typeof d.value === 'function' && names.has(d.value.name))) found.push(key)
                queue.push(d.value, d.get, d.set)
            }
            queue.push(Reflect.getPrototypeOf(value))
        }
        console.log(seen.size > 500, found)
        """,
        check=True,
    )
    assert ran.stdout == "true []\n"


@pytest.mark.security
def test_there_is_no_way_out_by_name(javascript: Programs) -> None:
    ran = javascript(
        """
        for (const name of ['std', 'os', 'bjson', 'scriptArgs', 'print', 'load', 'loadScript', 'fetch', 'WebAssembly',
                            'XMLHttpRequest', 'WebSocket', 'Worker', 'SharedWorker', 'Deno', 'Bun', 'nova', '__nova', 'Atomics'])
            if (typeof globalThis[name] !== 'undefined') console.log(name)
        for (const name of ['std', 'os', 'nova:host', 'qjs:std'])
            await import(name).then((m) => console.log(name, 'exec' in m, 'popen' in m), () => {})
        try { process.binding('fs') } catch (e) { console.log('binding', e.name) }
        try { process.kill(1, 9) } catch (e) { console.log('kill', e.code) }
        """,
        check=True,
    )
    assert ran.stdout == "os false false\nbinding TypeError\nkill EPERM\n"


@pytest.mark.security
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/proc/self/environ",
        "../../../etc/passwd",
        "/work/../etc/passwd",
        "//etc/passwd",
        "file:///etc/passwd",
        "/dev/../etc/passwd",
        "./../etc/passwd",
    ],
)
def test_files_of_the_host_are_not_there(javascript: Programs, path: str) -> None:
    ran = javascript(
        f"""
        const fs = require('fs'), target = {path!r}.startsWith('file:') ? new URL({path!r}) : {path!r}
        for (const run of [() => fs.readFileSync(target, 'utf8'), () => require({path!r}), () => fs.statSync(target).size])
            try {{ console.log('REACHED', run()) }} catch (e) {{ }}
        await import({path!r}).then(() => console.log('REACHED'), () => {{}})
        """
    )
    assert "REACHED" not in ran.stdout
    assert "root:" not in ran.stdout + ran.stderr
    control = javascript(
        "console.log(require('fs').readFileSync('/work/in', 'utf8'))", files={"in": "REACHED"}
    )
    assert control.stdout == "REACHED\n"


@pytest.mark.security
def test_the_environment_is_the_requests_alone(
    javascript: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOVA_CANARY", "secret")
    ran = javascript(
        "console.log(Object.keys(process.env).sort())", environment={"A": "1"}, check=True
    )
    assert ran.stdout == "[ 'A', 'HOME', 'LANG', 'TMPDIR', 'TZ' ]\n"


def test_wrong_arguments_of_every_function_raise_and_never_crash(javascript: Programs) -> None:
    """Calls all that is reachable from the globals and modules with values of every kind."""
    ran = javascript(
        """
        import fs from 'node:fs'
        import fsPromises from 'node:fs/promises'
        import * as modules from 'node:module'
        process.on('uncaughtException', (e) => console.log('uncaught', e)).on('unhandledRejection', () => {})
        const skip = new Set(['exit', 'abort', 'reallyExit', 'eval', 'Function', 'log', 'info', 'error', 'warn', 'debug', 'dir',
            'dirxml', 'table', 'trace', 'write', 'end', 'emitWarning', 'assert', 'timeLog', 'timeEnd', 'count', 'group',
            'groupCollapsed', 'setInterval', 'setTimeout', 'wait', 'removeAllListeners', 'repeat', 'padStart', 'padEnd',
            'allocUnsafe', 'alloc', 'closeSync', 'close', 'fill', 'Array', 'ArrayBuffer', 'on', 'addListener', 'SharedArrayBuffer'])
        const odd = [undefined, null, -1, 0, 1, NaN, 2 ** 31, -(2 ** 31), 2 ** 32, 1e300, '', 'x', '\\0', '/work/f', '\\ud800', [], {}, [[]],
            () => {}, Symbol('s'), 10n, new Uint8Array(3), new ArrayBuffer(2), new DataView(new ArrayBuffer(4)), new Date(NaN), /x/g,
            new Proxy({}, {}), Object.create(null), new Error('e'), new Map([[1, 2]]), Promise.resolve(1), true]
        const seen = new Set(); let calls = 0
        function visit(owner, depth) {
            if ((typeof owner !== 'object' && typeof owner !== 'function') || owner === null || seen.has(owner) || depth > 3) return
            seen.add(owner)
            for (const key of Reflect.ownKeys(owner)) {
                let value; try { value = owner[key] } catch { continue }
                if (typeof value === 'function' && !skip.has(key) && !skip.has(value.name)) {
                    for (let i = 0; i < odd.length; i++) {
                        const args = [odd[i], odd[(i * 7 + 3) % odd.length], odd[(i * 11 + 5) % odd.length]]
                        try { const r = value.apply(i % 3 ? owner : odd[i], args); if (r && typeof r.catch === 'function') r.catch(() => {}); calls++ } catch { calls++ }
                        if (i % 4 === 0) try { new value(...args); calls++ } catch { calls++ }
                    }
                }
                visit(value, depth + 1)
            }
        }
        for (const root of [fs, fsPromises, modules, process, console, Buffer, URL, URLSearchParams, TextDecoder, TextEncoder, TextDecoder.prototype,
            crypto, performance, structuredClone, atob, btoa, queueMicrotask, require('util'), require('path'), require('url'), require('events'),
            require('readline'), require('assert'), require('os'), AbortSignal, AbortController, Event]) visit({ root }, 0)
        const left = calls; process.stdout.write(''); console.log('calls', left > 5000)
        process.exit(0)
        """,
        timeout_s=20,
    )
    assert ran.status is Status.FINISHED, (ran.status, ran.stderr[-500:], ran.error_code)
    assert ran.stdout.endswith("calls true\n")
