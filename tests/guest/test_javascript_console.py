# ruff: noqa: E501 - the lines of programs in another language
"""What JavaScript programs print. The expected texts are those of Node."""

from __future__ import annotations

import pytest

from tests.guest.conftest import Programs

VALUES = [
    ("1 + 1", "2"),
    ("'text'", "text"),
    ("['text']", "[ 'text' ]"),
    ("-0", "-0"),
    ("10n ** 20n", "100000000000000000000n"),
    ("[undefined, null, true, Symbol('s')]", "[ undefined, null, true, Symbol(s) ]"),
    ("{ a: { b: { c: { d: 1 } } } }", "{ a: { b: { c: [Object] } } }"),
    ("{ 'two words': 1, [Symbol('k')]: 2 }", "{ 'two words': 1, [Symbol(k)]: 2 }"),
    ("""["it's", 'a "q"']""", """[ "it's", 'a "q"' ]"""),
    ("[1, , 3, , , 6]", "[ 1, <1 empty item>, 3, <2 empty items>, 6 ]"),
    ("new Map([['a', { b: 1 }]])", "Map(1) { 'a' => { b: 1 } }"),
    ("new Set([1, 'x', [2]])", "Set(3) { 1, 'x', [ 2 ] }"),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("new Date(NaN)", "Invalid Date"),
    ("/a+/gi", "/a+/gi"),
    ("new (class Point { x = 1; y = 2 })()", "Point { x: 1, y: 2 }"),
    ("class A extends Array {}", "[class A extends Array]"),
    ("function named() {}", "[Function: named]"),
    ("async () => {}", "[AsyncFunction (anonymous)]"),
    ("function* g() {}", "[GeneratorFunction: g]"),
    ("Object.create(null)", "[Object: null prototype] {}"),
    ("Promise.resolve([1])", "Promise { [ 1 ] }"),
    ("new Promise(() => {})", "Promise { <pending> }"),
    ("new Uint8Array([1, 2])", "Uint8Array(2) [ 1, 2 ]"),
    ("new ArrayBuffer(2)", "ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 }"),
    ("Buffer.from('hi')", "<Buffer 68 69>"),
    ("new WeakMap()", "WeakMap { <items unknown> }"),
    ("[new Number(1), new String('s')]", "[ [Number: 1], [String: 's'] ]"),
    (
        "{ get a() { return 1 }, set a(v) {}, get b() { return 1 } }",
        "{ a: [Getter/Setter], b: [Getter] }",
    ),
    ("new URLSearchParams('a=1&b=2')", "URLSearchParams { 'a' => '1', 'b' => '2' }"),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[v[0] for v in VALUES])
def test_a_value_is_shown_as_in_node(javascript: Programs, expression: str, expected: str) -> None:
    assert javascript(f"console.log({expression})", check=True).stdout == f"{expected}\n"


def test_circular_values_are_marked(javascript: Programs) -> None:
    printed = javascript("const a = { name: 'a' }; a.self = a; console.log(a)", check=True).stdout
    assert printed == "<ref *1> { name: 'a', self: [Circular *1] }\n"


def test_long_arrays_are_shown_in_columns_and_cut_at_a_hundred(javascript: Programs) -> None:
    printed = javascript(
        "console.log(Array.from({ length: 120 }, (_, i) => i))", check=True
    ).stdout.splitlines()
    assert printed[1] == "   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,"
    assert printed[-2] == "  ... 20 more items"


def test_wide_objects_take_a_line_for_each_property(javascript: Programs) -> None:
    printed = javascript(
        "console.log({ a: 'x'.repeat(30), b: 'y'.repeat(30), c: 'z'.repeat(30) })", check=True
    ).stdout.splitlines()
    assert printed[0] == "{"
    assert printed[1] == f"  a: '{'x' * 30}',"
    assert printed[4] == "}"


def test_a_proxy_is_shown_without_calling_its_traps(javascript: Programs) -> None:
    printed = javascript(
        "console.log(new Proxy({ a: 1 }, { get() { throw new Error('trap') }, "
        "ownKeys() { throw new Error('trap') } }))",
        check=True,
    ).stdout
    assert printed == "{ a: 1 }\n"


def test_an_array_of_enormous_length_is_shown_at_once(javascript: Programs) -> None:
    assert (
        javascript("console.log(new Array(4294967295))", check=True).stdout
        == "[ <4294967295 empty items> ]\n"
    )


def test_format_directives_are_filled_in(javascript: Programs) -> None:
    printed = javascript(
        "console.log('%s is %d, %i, %f, %j %% %o', 'x', 42, 4.9, 1.5, {a: 1}, 'more')", check=True
    ).stdout
    assert printed == "x is 42, 4, 1.5, {\"a\":1} % 'more'\n"


def test_a_percent_sign_in_a_lone_argument_is_left_alone(javascript: Programs) -> None:
    assert javascript("console.log('100%'); console.log('%s')", check=True).stdout == "100%\n%s\n"


def test_error_and_warn_go_to_standard_error_and_the_rest_to_standard_output(
    javascript: Programs,
) -> None:
    ran = javascript(
        "console.log(1); console.info(2); console.debug(3); console.error(4); console.warn(5)"
    )
    assert (ran.stdout, ran.stderr) == ("1\n2\n3\n", "4\n5\n")


def test_groups_indent_every_line(javascript: Programs) -> None:
    printed = javascript(
        "console.group('G'); console.log('a\\nb'); console.group(); console.log('c');"
        "console.groupEnd(); console.groupEnd(); console.log('d')",
        check=True,
    ).stdout
    assert printed == "G\n  a\n  b\n    c\nd\n"


def test_a_table_has_a_column_for_each_key(javascript: Programs) -> None:
    assert javascript(
        "console.table([{ a: 1, b: 'x' }, { a: 2, c: true }])", check=True
    ).stdout == (
        "┌─────────┬───┬─────┬──────┐\n"
        "│ (index) │ a │ b   │ c    │\n"
        "├─────────┼───┼─────┼──────┤\n"
        "│ 0       │ 1 │ 'x' │      │\n"
        "│ 1       │ 2 │     │ true │\n"
        "└─────────┴───┴─────┴──────┘\n"
    )


def test_count_assert_dir_and_time(javascript: Programs) -> None:
    ran = javascript(
        "console.count(); console.count(); console.countReset(); console.count('x');"
        "console.assert(true, 'no'); console.assert(false, 'yes %d', 1);"
        "console.dir({ a: { b: 1 } }, { depth: 0 });"
        "console.time('t'); console.timeEnd('t'); console.timeEnd('t')"
    )
    lines = ran.stdout.splitlines()
    assert lines[:4] == ["default: 1", "default: 2", "x: 1", "{ a: [Object] }"]
    assert lines[4].startswith("t: ")
    assert ran.stderr.splitlines() == [
        "Assertion failed: yes 1",
        "Warning: No such label 't' for console.time()",
    ]


def test_trace_shows_the_users_own_frames(javascript: Programs) -> None:
    ran = javascript("function here() { console.trace('label') }\nhere()")
    assert ran.stderr.splitlines() == [
        "Trace: label",
        "    at here (main.js:1:32)",
        "    at <anonymous> (main.js:2:5)",
    ]


def test_an_error_is_shown_with_its_stack_cause_and_properties(javascript: Programs) -> None:
    printed = javascript(
        "const e = new TypeError('bad', { cause: new Error('why') });\ne.code = 'E_X';\nconsole.log(e)",
        check=True,
    ).stdout
    assert printed == (
        "TypeError: bad\n"
        "    at <anonymous> (main.js:1:24) {\n"
        "  code: 'E_X',\n"
        "  [cause]: Error: why\n"
        "      at <anonymous> (main.js:1:50)\n"
        "}\n"
    )


def test_error_stack_begins_with_name_and_message(javascript: Programs) -> None:
    assert (
        javascript("console.log(new RangeError('far').stack.split('\\n')[0])", check=True).stdout
        == "RangeError: far\n"
    )


def test_stdout_and_stderr_write_add_nothing(javascript: Programs) -> None:
    ran = javascript(
        "process.stdout.write('a'); process.stdout.write(new Uint8Array([98])); process.stderr.write('c')"
    )
    assert (ran.stdout, ran.stderr) == ("ab", "c")


def test_much_output_is_complete_and_in_order(javascript: Programs) -> None:
    printed = javascript("for (let i = 0; i < 30000; i++) console.log(i)", check=True).stdout
    assert printed == "".join(f"{i}\n" for i in range(30000))


def test_lone_surrogates_are_replaced_in_output(javascript: Programs) -> None:
    assert javascript("console.log('\\ud800|' + '\\udc00', '😀')", check=True).stdout == "�|� 😀\n"
