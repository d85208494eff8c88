# ruff: noqa: E501 - the lines of programs in another language
"""The web's own objects: text encodings, URLs, structured clones, random values."""

from __future__ import annotations

import pytest

from tests.guest.conftest import Programs

URLS = [
    ("new URL('../b?x=1#h', 'http://EXAMPLE.com:80/a/c/').href", "http://example.com/a/b?x=1#h"),
    ("new URL('http://user:p%40ss@h.com:8080/p?q#f').password", "p%40ss"),
    ("new URL('https://ex.org:443/ä b?ü=\"').href", "https://ex.org/%C3%A4%20b?%C3%BC=%22"),
    ("new URL('http://1.2.3/').hostname", "1.2.0.3"),
    ("new URL('http://0x7f.1/').host", "127.0.0.1"),
    ("new URL('http://[::1:0:0]:81/').host", "[::1:0:0]:81"),
    ("new URL('http://[::ffff:1.2.3.4]/').hostname", "[::ffff:102:304]"),
    ("new URL('http://bücher.example/').hostname", "xn--bcher-kva.example"),
    ("new URL('file:///a/./b/../c').pathname", "/a/c"),
    ("new URL('mailto:a@b.c').pathname", "a@b.c"),
    ("new URL('http:\\\\\\\\a\\\\b').href", "http://a/b"),
    ("new URL('//other/x', 'https://h/y').href", "https://other/x"),
    ("new URL('?q', 'http://h/a/b').href", "http://h/a/b?q"),
    ("new URL('#f', 'http://h/a?b').href", "http://h/a?b#f"),
    ("new URL('http://h').href", "http://h/"),
    ("new URL('data:text/plain,hi').origin", "null"),
    ("URL.canParse('http://a b')", "false"),
    ("new URL('http://h/%7Ea/%zz').pathname", "/%7Ea/%zz"),
]


@pytest.mark.parametrize(("expression", "expected"), URLS, ids=[u[0] for u in URLS])
def test_a_url_is_parsed_by_the_standard(
    javascript: Programs, expression: str, expected: str
) -> None:
    assert javascript(f"console.log({expression})", check=True).stdout == f"{expected}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no scheme",
        "http://",
        "http://a:99999",
        "http://[::1",
        "http://1.2.3.256",
        "http://a%00b",
    ],
)
def test_what_is_no_url_is_a_type_error(javascript: Programs, text: str) -> None:
    ran = javascript(
        f"try {{ new URL({text!r}) }} catch (e) {{ console.log(e.code, e instanceof TypeError) }}",
        check=True,
    )
    assert ran.stdout == "ERR_INVALID_URL true\n"


def test_parts_of_a_url_can_be_set(javascript: Programs) -> None:
    ran = javascript(
        """
        const u = new URL('http://h/p?a=1')
        u.protocol = 'https'; u.host = 'other:444'; u.pathname = 'x y'; u.hash = 'z'; u.username = 'me'
        u.searchParams.append('b', '2 3'); u.searchParams.delete('a')
        console.log(u.href, JSON.stringify({ u }))
        u.search = '?c=%20'; console.log(u.searchParams.get('c') === ' ', [...u.searchParams.keys()])
        """,
        check=True,
    )
    assert ran.stdout == (
        'https://me@other:444/x%20y?b=2+3#z {"u":"https://me@other:444/x%20y?b=2+3#z"}\n'
        "true [ 'c' ]\n"
    )


def test_search_parameters_from_every_kind_of_source(javascript: Programs) -> None:
    ran = javascript(
        """
        console.log(`${new URLSearchParams('?a=1&a=2&b=%C3%BC+x')}`, `${new URLSearchParams({ k: 'v w' })}`)
        const p = new URLSearchParams([['z', '1'], ['a', '2'], ['z', '3']])
        p.sort(); console.log(`${p}`, p.getAll('z'), p.has('a', '2'), p.size); p.set('z', 'q'); console.log(`${p}`)
        """,
        check=True,
    )
    assert ran.stdout == "a=1&a=2&b=%C3%BC+x k=v+w\na=2&z=1&z=3 [ '1', '3' ] true 3\na=2&z=q\n"


def test_text_is_encoded_and_decoded(javascript: Programs) -> None:
    ran = javascript(
        """
        const bytes = new TextEncoder().encode('€😀\\ud800')
        console.log(Buffer.from(bytes).toString('hex'), new TextDecoder().decode(bytes) === '€😀\\ufffd')
        console.log(new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0, 0x3d, 0xd8, 0, 0xde])))
        console.log(new TextDecoder('latin1').decode(new Uint8Array([0x80, 0xe9])))
        console.log(JSON.stringify(new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65]))))
        console.log(new TextEncoder().encodeInto('aé€', new Uint8Array(4)))
        const d = new TextDecoder(); let s = ''
        for (const byte of new TextEncoder().encode('ä€😀')) s += d.decode(new Uint8Array([byte]), { stream: true })
        console.log(s + d.decode())
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "e282acf09f9880efbfbd true",
        "a😀",
        "€é",
        '"A"',
        "{ read: 2, written: 3 }",
        "ä€😀",
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("0xff", "�"),
        ("0xe2, 0x82", "�"),
        ("0xe2, 0x28, 0xa1", "�(�"),
        ("0xc0, 0x80", "��"),
        ("0xed, 0xa0, 0x80", "���"),
        ("0xf0, 0x9f, 0x98, 65", "�A"),
        ("0xf5, 65", "�A"),
    ],
)
def test_wrong_utf8_is_replaced_by_the_standard_or_refused(
    javascript: Programs, data: str, expected: str
) -> None:
    ran = javascript(
        f"const b = new Uint8Array([{data}]); console.log(new TextDecoder().decode(b));"
        "try { new TextDecoder('utf-8', { fatal: true }).decode(b) } catch (e) { console.log(e.name) }",
        check=True,
    )
    assert ran.stdout == f"{expected}\nTypeError\n"


def test_base64_in_its_three_forms(javascript: Programs) -> None:
    ran = javascript(
        """
        console.log(btoa('h\\xe9'), atob('aOk=') === 'h\\xe9', atob(' a Q = = '))
        for (const bad of ['a', 'a*', 'aQ=a']) try { atob(bad); console.log('no') } catch (e) { console.log(e.name) }
        try { btoa('€') } catch (e) { console.log(e.name, e.code) }
        console.log(Buffer.from('aGk', 'base64').toString(), Buffer.from([251, 255]).toString('base64url'))
        console.log(Uint8Array.fromBase64('AP8=').toHex(), new Uint8Array([1, 2]).toBase64(), Uint8Array.fromHex('0a'))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "aOk= true i",
        "InvalidCharacterError",
        "InvalidCharacterError",
        "InvalidCharacterError",
        "InvalidCharacterError 5",
        "hi -_8",
        "00ff AQI= Uint8Array(1) [ 10 ]",
    ]


def test_buffers(javascript: Programs) -> None:
    ran = javascript(
        """
        const b = Buffer.concat([Buffer.from('ab'), Buffer.from([99])])
        console.log(`${b}`, b.slice(1).toString(), b.equals(Buffer.from('abc')), b.indexOf('c'), Buffer.isBuffer(b))
        console.log(JSON.stringify(Buffer.alloc(2, 1)), Buffer.byteLength('€'), Buffer.compare(Buffer.from('a'), Buffer.from('b')))
        console.log(b.map((x) => x + 1).toString(), b.subarray(0, 2) instanceof Buffer)
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "abc bc true 2 true",
        '{"type":"Buffer","data":[1,1]} 3 -1',
        "bcd true",
    ]


def test_a_structured_clone_is_deep_and_keeps_cycles(javascript: Programs) -> None:
    ran = javascript(
        """
        const a = { d: new Date(5), m: new Map([[{ k: 1 }, new Set([1])]]), r: /x/g, u: new Uint8Array([1, 2]), e: new RangeError('no') }
        a.self = a; a.again = a.d
        const c = structuredClone(a)
        console.log(c !== a, c.self === c, c.again === c.d, c.d !== a.d, c.u[1], c.e instanceof RangeError, c.e.message)
        console.log([...c.m.keys()][0], c.r, structuredClone([1, , 3]), structuredClone(Object(1n)))
        for (const bad of [() => {}, Symbol('s'), { f() {} }, Promise.resolve()])
            try { structuredClone(bad); console.log('no') } catch (e) { console.log(e.name, e.code) }
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "true true true true 2 true no",
        "{ k: 1 } /x/g [ 1, <1 empty item>, 3 ] [BigInt: 1n]",
        *["DataCloneError 25"] * 4,
    ]


def test_a_deeply_nested_value_is_cloned_without_recursion(javascript: Programs) -> None:
    ran = javascript(
        "let v = 0; for (let i = 0; i < 1e5; i++) v = { v }; let c = structuredClone(v), n = 0;"
        "while (c.v !== undefined) { c = c.v; n++ } console.log(n)",
        check=True,
    )
    assert ran.stdout == "100000\n"


def test_random_values(javascript: Programs) -> None:
    ran = javascript(
        """
        const a = crypto.getRandomValues(new Uint8Array(1000)); console.log(new Set(a).size > 200)
        console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()))
        try { crypto.getRandomValues(new Uint8Array(65537)) } catch (e) { console.log(e.name) }
        const n = require('crypto').randomInt(5, 7); console.log(n === 5 || n === 6)
        """,
        check=True,
    )
    assert ran.stdout == "true\ntrue\nQuotaExceededError\ntrue\n"


def test_abort_signals_and_event_targets(javascript: Programs) -> None:
    ran = javascript(
        """
        const c = new AbortController(); c.signal.addEventListener('abort', () => console.log('aborted', c.signal.reason.name))
        c.abort(); try { c.signal.throwIfAborted() } catch (e) { console.log(e.name) }
        const t = new EventTarget(); t.addEventListener('x', (e) => console.log(e.detail), { once: true })
        t.dispatchEvent(new CustomEvent('x', { detail: 1 })); t.dispatchEvent(new CustomEvent('x', { detail: 2 }))
        """,
        check=True,
    )
    assert ran.stdout == "aborted AbortError\nAbortError\n1\n"


def test_numbers_are_grouped_and_rounded_for_people(javascript: Programs) -> None:
    ran = javascript(
        """
        console.log((1234567.891).toLocaleString(), (-0.5).toLocaleString(), (1e21).toLocaleString())
        console.log((1.005).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }))
        console.log((1234.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' }), (0.256).toLocaleString('en-US', { style: 'percent' }))
        """,
        check=True,
    )
    assert ran.stdout == "1,234,567.891 -0.5 1,000,000,000,000,000,000,000\n1.01\n$1,234.50 26%\n"


@pytest.mark.parametrize(
    "call",
    [
        "(1).toLocaleString('de-DE')",
        "new Date().toLocaleDateString('de-DE')",
        "new Date().toLocaleDateString('en-US', { month: 'long' })",
    ],
)
def test_what_needs_locale_data_says_so(javascript: Programs, call: str) -> None:
    assert "Intl) are not available in the WASM runtime" in javascript(call).stderr


def test_words_sort_as_people_expect(javascript: Programs) -> None:
    ran = javascript(
        """
        console.log(['b', 'Z', 'é', 'a', 'e', 'B', 'f', '1', '_'].sort((a, b) => a.localeCompare(b)).join(''))
        console.log(['x10', 'x9', 'x1'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })))
        console.log('a'.localeCompare('Á', 'en', { sensitivity: 'base' }), 'a'.localeCompare('a'))
        """,
        check=True,
    )
    assert ran.stdout == "_1abBeéfZ\n[ 'x1', 'x9', 'x10' ]\n0 0\n"
