# ruff: noqa: E501 - the lines of programs in another language
"""Which file an import or require means, and what the program gets of it."""

from __future__ import annotations

import pytest

from tests.guest.conftest import Programs

FILES = {
    "lib/math.js": "export const add = (a, b) => a + b\nexport default 'math'\n",
    "lib/deep/inner.mjs": "import { add } from '../math.js'\nexport const three = add(1, 2)\n",
    "lib/index.js": "export const where = 'index'\n",
    "common.js": "exports.kind = 'commonjs'; exports.me = __filename\n",
    "data.json": '{"answer": 42, "list": [1]}\n',
}


def test_relative_imports_with_and_without_ending(javascript: Programs) -> None:
    ran = javascript(
        """
        import math, { add } from './lib/math.js'
        import { add as again } from './lib/math'
        import { three } from './lib/deep/inner.mjs'
        import { where } from './lib'
        import * as all from '/work/lib/math.js'
        console.log(math, add(1, 1), add === again, three, where, Object.keys(all))
        """,
        files=FILES,
        check=True,
    )
    assert ran.stdout == "math 2 true 3 index [ 'add', 'default' ]\n"


def test_an_entry_imports_its_neighbours(javascript: Programs) -> None:
    ran = javascript(
        entry="app/src/main.js",
        files={
            "app/src/main.js": "import { x } from '../lib/x.js'; console.log(x, import.meta.url, import.meta.main)",
            "app/lib/x.js": "export const x = import.meta.filename + ' ' + import.meta.main",
        },
        check=True,
    )
    assert ran.stdout == "/work/app/lib/x.js false file:///work/app/src/main.js true\n"


def test_a_cycle_of_modules_ends(javascript: Programs) -> None:
    ran = javascript(
        "import { a } from './a.js'; console.log(a())",
        files={
            "a.js": "import { b } from './b.js'; export const a = () => b() + 1",
            "b.js": "import { a } from './a.js'; export const b = () => typeof a === 'function' ? 1 : 0",
        },
        check=True,
    )
    assert ran.stdout == "2\n"


def test_scripts_and_json_can_be_imported(javascript: Programs) -> None:
    ran = javascript(
        """
        import common, { kind, me } from './common.js'
        import data, { answer } from './data.json'
        console.log(common.kind === kind, me, data.list, answer)
        """,
        files=FILES,
        check=True,
    )
    assert ran.stdout == "true /work/common.js [ 1 ] 42\n"


def test_import_attributes_are_accepted(javascript: Programs) -> None:
    ran = javascript(
        """
        import data from './data.json' with { type: 'json' }
        import './lib/math.js' with { 'a': 'b', }
        export { where } from './lib/index.js' with {}
        const again = await import('./data.json', { with: { type: 'json' } })
        console.log(data.answer, again.default === data)
        """,
        files=FILES,
        check=True,
    )
    assert ran.stdout == "42 true\n"
    assert "SyntaxError" in javascript("import './lib/math.js' with { type: json }").stderr


def test_require_of_scripts_json_and_built_in_modules(javascript: Programs) -> None:
    ran = javascript(
        """
        const { kind } = require('./common')
        console.log(kind, require('./data.json').answer, require('./common') === require('./common.js'))
        console.log(require('fs') === require('node:fs'), require.resolve('./common'))
        """,
        files=FILES,
        check=True,
    )
    assert ran.stdout == "commonjs 42 true\ntrue /work/common.js\n"


def test_a_cycle_of_scripts_sees_what_is_there_so_far(javascript: Programs) -> None:
    ran = javascript(
        "console.log(require('./a.js').seen)",
        files={
            "a.js": "exports.early = 1; exports.seen = require('./b.js').seen",
            "b.js": "exports.seen = Object.keys(require('./a.js'))",
        },
        check=True,
    )
    assert ran.stdout == "[ 'early' ]\n"


def test_dynamic_import_works_in_scripts_and_modules(javascript: Programs) -> None:
    program = "import('./lib/math.js').then((m) => console.log(m.add(2, 3)))"
    assert javascript(program, files=FILES, check=True).stdout == "5\n"
    assert javascript(program, name="main.mjs", files=FILES, check=True).stdout == "5\n"


def test_packages_in_a_node_modules_folder_are_found(javascript: Programs) -> None:
    ran = javascript(
        "import tool, { kind } from 'tool'; import sub from 'tool/sub.js'; console.log(tool(), kind, sub)",
        files={
            "node_modules/tool/package.json": '{"main": "./dist/tool.js"}',
            "node_modules/tool/dist/tool.js": "module.exports = () => 1; module.exports.kind = 'tool'",
            "node_modules/tool/sub.js": "export default 'sub'",
        },
        check=True,
    )
    assert ran.stdout == "1 tool sub\n"


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import x from 'lodash'", "lodash"),
        ("require('lodash')", "lodash"),
        ("require('child_process')", "child_process"),
        ("import 'node:http'", "node:http"),
        ("import './missing.js'", "./missing.js"),
        ("import 'https://example.com/x.js'", "https://example.com/x.js"),
        ("await import('axios')", "axios"),
    ],
)
def test_a_module_that_is_not_there_is_named_in_the_report(
    javascript: Programs, source: str, module: str
) -> None:
    ran = javascript(source)
    assert ran.exit_code == 1
    assert ran.report is not None
    assert ran.report.module == module
    assert f"Cannot find module '{module}'" in ran.stderr


def test_what_this_runtime_cannot_have_is_said(javascript: Programs) -> None:
    assert (
        "not available in the WASM runtime (there is no network)"
        in javascript("require('https')").stderr
    )
    assert "packages from npm are not available" in javascript("require('express')").stderr


def test_a_failed_import_can_be_caught(javascript: Programs) -> None:
    ran = javascript(
        "try { await import('./no.js') } catch (e) { console.log(e.code) }\n"
        "try { require('no') } catch (e) { console.log(e.code) }",
        check=True,
    )
    assert ran.stdout == "ERR_MODULE_NOT_FOUND\nERR_MODULE_NOT_FOUND\n"


def test_a_syntax_error_in_an_imported_file_names_that_file(javascript: Programs) -> None:
    ran = javascript("import './bad.js'", files={"bad.js": "export const a = 1\nlet let = 2\n"})
    assert "SyntaxError" in ran.stderr
    assert "/work/bad.js:2:" in ran.stderr


def test_broken_json_names_its_file(javascript: Programs) -> None:
    assert "/work/bad.json" in javascript("require('./bad.json')", files={"bad.json": "{"}).stderr


def test_require_of_a_module_says_to_import_it(javascript: Programs) -> None:
    ran = javascript("require('./lib/math.js')", files=FILES)
    assert "use import" in ran.stderr


def test_a_file_of_the_user_with_the_name_of_a_built_in_module(javascript: Programs) -> None:
    ran = javascript(
        "console.log(require('./fs').mine, typeof require('fs').readFileSync)",
        files={"fs.js": "exports.mine = true"},
        check=True,
    )
    assert ran.stdout == "true function\n"


@pytest.mark.parametrize(
    "name",
    [
        "assert",
        "buffer",
        "console",
        "crypto",
        "events",
        "fs",
        "fs/promises",
        "module",
        "os",
        "path",
        "perf_hooks",
        "process",
        "readline",
        "readline/promises",
        "timers",
        "timers/promises",
        "url",
        "util",
    ],
)
def test_a_built_in_module_is_the_same_by_import_and_require(
    javascript: Programs, name: str
) -> None:
    ran = javascript(
        f"import * as m from 'node:{name}'; console.log(m.default === require('{name}'))",
        check=True,
    )
    assert ran.stdout == "true\n"


def test_the_small_modules_do_what_their_names_say(javascript: Programs) -> None:
    ran = javascript(
        """
        const assert = require('assert'), EventEmitter = require('events'), util = require('util'), path = require('path')
        assert.deepStrictEqual({ a: [1, new Map([[1, 2]])] }, { a: [1, new Map([[1, 2]])] })
        assert.throws(() => assert.strictEqual(1, 2), { code: 'ERR_ASSERTION' })
        assert.throws(() => { throw new TypeError('x') }, /x/)
        assert.notDeepStrictEqual([1], [1, 2])
        const e = new EventEmitter()
        e.once('a', (x) => console.log('once', x)).on('a', (x) => console.log('on', x))
        console.log(e.emit('a', 1), e.emit('a', 2), e.emit('b'), e.listenerCount('a'))
        console.log(util.inspect({ a: { b: {} } }, { depth: 0 }), util.format('%s!', 'x'), util.types.isMap(new Map()))
        util.promisify((x, done) => done(null, x + 1))(1).then(console.log)
        console.log(path.join('/a', '../b', './c.txt'), path.resolve('x'), path.extname('a.b.c'), path.basename('/q/w.e', '.e'))
        console.log(path.relative('/a/b/c', '/a/d'), path.parse('/r/f.txt').name, path.normalize('a//b/..'), path.isAbsolute('a'))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "once 1",
        "on 1",
        "on 2",
        "true true false 1",
        "{ a: [Object] } x! true",
        "/b/c.txt /work/x .c w",
        "../../d f a false",
        "2",
    ]
