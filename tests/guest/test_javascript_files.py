# ruff: noqa: E501 - the lines of programs in another language
"""fs in JavaScript programs: files of /work and /tmp, and the errors of Node."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


def test_files_are_written_read_and_given_back(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs')
        fs.writeFileSync('out.txt', 'héllo\\n')
        fs.appendFileSync('/work/out.txt', 'more')
        fs.writeFileSync('bytes.bin', new Uint8Array([0, 255, 10]))
        fs.writeFileSync('hex.bin', '00ff', 'hex')
        console.log(fs.readFileSync('in.txt', 'utf8'), fs.readFileSync('out.txt').length)
        console.log(fs.readFileSync('bytes.bin'), fs.readFileSync('in.txt') instanceof Uint8Array)
        """,
        files={"in.txt": "given"},
        check=True,
    )
    assert ran.stdout == "given 11\n<Buffer 00 ff 0a> true\n"
    assert ran.files["out.txt"] == "héllo\nmore".encode()
    assert ran.files["bytes.bin"] == b"\x00\xff\n"
    assert ran.files["hex.bin"] == b"\x00\xff"


def test_a_buffer_as_text_is_text(javascript: Programs) -> None:
    ran = javascript(
        "const b = require('fs').readFileSync('in.txt'); console.log(b.toString(), `${b}`, b + '')",
        files={"in.txt": "äöü"},
        check=True,
    )
    assert ran.stdout == "äöü äöü äöü\n"


def test_directories(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs')
        console.log(fs.mkdirSync('a/b/c', { recursive: true }), fs.mkdirSync('a/b', { recursive: true }))
        fs.writeFileSync('a/f.txt', ''); fs.writeFileSync('a/b/g.txt', '')
        console.log(fs.readdirSync('a'), fs.readdirSync('a', { recursive: true }))
        console.log(fs.readdirSync('a', { withFileTypes: true }).map((e) => [e.name, e.isDirectory(), e.isFile()]))
        fs.renameSync('a/f.txt', 'a/h.txt'); fs.copyFileSync('a/h.txt', 'a/i.txt'); fs.unlinkSync('a/h.txt')
        fs.cpSync('a', 'copy', { recursive: true })
        fs.rmSync('a', { recursive: true }); fs.rmSync('a', { force: true })
        console.log(fs.existsSync('a'), fs.readdirSync('copy', { recursive: true }))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "/work/a undefined",
        "[ 'b', 'f.txt' ] [ 'b', 'b/c', 'b/g.txt', 'f.txt' ]",
        "[ [ 'b', true, false ], [ 'f.txt', false, true ] ]",
        "false [ 'b', 'b/c', 'b/g.txt', 'i.txt' ]",
    ]
    assert sorted(ran.files) == ["copy/b/g.txt", "copy/i.txt"]


def test_a_directory_of_many_entries_is_read_whole(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs'); fs.mkdirSync('d')
        for (let i = 0; i < 500; i++) fs.writeFileSync(`d/${'n'.repeat(60)}${i}`, '')
        const names = fs.readdirSync('d')
        console.log(names.length, new Set(names).size)
        fs.rmSync('d', { recursive: true }); console.log(fs.existsSync('d'))
        """,
        check=True,
    )
    assert ran.stdout == "500 500\nfalse\n"


def test_stat_tells_kind_size_and_times(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs'); fs.utimesSync('in.txt', 100, new Date(200500))
        const s = fs.statSync('in.txt'), d = fs.lstatSync('.')
        console.log(s.size, s.isFile(), s.isDirectory(), d.isDirectory(), s.mtimeMs, s.mtime.toISOString(), s.atimeMs)
        console.log(fs.statSync('no', { throwIfNoEntry: false }))
        """,
        files={"in.txt": "12345"},
        check=True,
    )
    assert ran.stdout == "5 true false true 200500 1970-01-01T00:03:20.500Z 100000\nundefined\n"


def test_descriptors_read_write_and_truncate_at_positions(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs'), fd = fs.openSync('f', 'w+')
        fs.writeSync(fd, 'hello world'); fs.writeSync(fd, 'J', 0); fs.writeSync(fd, new Uint8Array([33]), 0, 1, 10)
        const b = Buffer.alloc(20), n = fs.readSync(fd, b, 0, 20, 0)
        console.log(n, b.toString('utf8', 0, n)); fs.ftruncateSync(fd, 5); fs.closeSync(fd)
        console.log(fs.readFileSync('f', 'latin1'))
        try { fs.closeSync(fd) } catch (e) { console.log(e.code) }
        """,
        check=True,
    )
    assert ran.stdout == "11 Jello worl!\nJello\nEBADF\n"


ERRORS = [
    ("readFileSync('no.txt')", "ENOENT", "open", "no.txt"),
    ("readFileSync('dir')", "EISDIR", "open", "dir"),
    ("writeFileSync('no/x', '')", "ENOENT", "open", "no/x"),
    ("writeFileSync('in.txt', '', { flag: 'wx' })", "EEXIST", "open", "in.txt"),
    ("mkdirSync('dir')", "EEXIST", "mkdir", "dir"),
    ("readdirSync('in.txt')", "ENOTDIR", "scandir", "in.txt"),
    ("rmdirSync('full')", "ENOTEMPTY", "rmdir", "full"),
    ("statSync('no')", "ENOENT", "stat", "no"),
    ("unlinkSync('no')", "ENOENT", "unlink", "no"),
    ("renameSync('no', 'x')", "ENOENT", "rename", "no"),
    ("rmSync('no')", "ENOENT", "rm", "no"),
    ("accessSync('no')", "ENOENT", "access", "no"),
    ("readFileSync('a\\0b')", "EINVAL", "open", "a\0b"),
]


@pytest.mark.parametrize(("call", "code", "syscall", "path"), ERRORS, ids=[e[0] for e in ERRORS])
def test_an_error_has_the_code_call_and_path(
    javascript: Programs, call: str, code: str, syscall: str, path: str
) -> None:
    ran = javascript(
        f"try {{ require('fs').{call} }} catch (e) {{ console.log(e instanceof Error, "
        "JSON.stringify([e.code, e.syscall, e.path, e.message.startsWith(e.code + ': ')])) }",
        files={"in.txt": "", "dir/.keep": "", "full/x": ""},
        check=True,
    )
    written = path.replace("\0", "\\u0000")
    assert ran.stdout == f'true ["{code}","{syscall}","{written}",true]\n'


def test_an_uncaught_file_error_reports_its_path(javascript: Programs) -> None:
    ran = javascript("require('fs').readFileSync('C:\\\\data\\\\x.csv')")
    assert ran.report is not None
    assert ran.report.path == "C:\\data\\x.csv"
    assert "ENOENT" in ran.report.message


def test_promises_callbacks_and_handles(javascript: Programs) -> None:
    ran = javascript(
        """
        import fs, { promises } from 'fs'
        import { readFile, writeFile, mkdir, open } from 'node:fs/promises'
        await mkdir('d'); await writeFile('d/x', 'one\\ntwo\\n')
        console.log(await readFile('d/x', 'utf8') === 'one\\ntwo\\n', promises.readFile === readFile)
        await readFile('no').catch((e) => console.log(e.code))
        const h = await open('d/x'); for await (const line of h.readLines()) console.log(line); await h.close()
        fs.readFile('d/x', 'utf8', (e, text) => console.log(e, text.length))
        fs.stat('no', (e) => console.log(e.code))
        """,
        check=True,
    )
    assert ran.stdout == "true true\nENOENT\none\ntwo\nnull 8\nENOENT\n"


def test_paths_may_be_urls_and_buffers(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs'), { pathToFileURL, fileURLToPath } = require('url')
        fs.writeFileSync(pathToFileURL('a b%.txt'), 'x'); fs.writeFileSync(Buffer.from('ü.txt'), 'y')
        console.log(fileURLToPath('file:///work/a%20b'), fs.readdirSync('.'))
        """,
        check=True,
    )
    assert ran.stdout == "/work/a b [ 'a b%.txt', 'ü.txt' ]\n"


def test_the_current_directory_can_be_changed(javascript: Programs) -> None:
    ran = javascript(
        """
        process.chdir('d'); require('fs').writeFileSync('x', process.cwd())
        try { process.chdir('no') } catch (e) { console.log(e.code) }
        """,
        files={"d/.keep": ""},
        check=True,
    )
    assert ran.stdout == "ENOENT\n"
    assert ran.files["d/x"] == b"/work/d"


def test_writing_to_descriptor_one_keeps_the_order_with_the_console(javascript: Programs) -> None:
    ran = javascript(
        "console.log('a'); require('fs').writeFileSync(1, 'b\\n'); require('fs').writeSync(1, 'c\\n'); console.log('d')",
        check=True,
    )
    assert ran.stdout == "a\nb\nc\nd\n"


def test_files_as_streams(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs'), readline = require('readline')
        const out = fs.createWriteStream('out.txt'); out.write('a,'); out.write(new Uint8Array([98]))
        out.end('!', () => console.log('finished', fs.readFileSync('out.txt', 'utf8'), out.bytesWritten))
        fs.createReadStream('in.csv', 'utf8').on('data', (c) => console.log(typeof c, c.length)).on('end', () => console.log('end'))
        fs.createReadStream('no').on('error', (e) => console.log(e.code))
        fs.createReadStream('in.csv', { start: 2, end: 4 }).pipe(fs.createWriteStream('part')).on('finish', () => console.log(fs.readFileSync('part', 'utf8')))
        async function lines() {
            for await (const line of readline.createInterface({ input: fs.createReadStream('in.csv') })) console.log(line)
            for await (const chunk of fs.createReadStream('in.csv')) console.log(chunk)
        }
        lines()
        """,
        files={"in.csv": "x,y\n1,2\n"},
        check=True,
    )
    assert sorted(ran.stdout.splitlines()) == [
        "1",
        "1,2",
        "<Buffer 78 2c 79 0a 31 2c 32 0a>",
        "ENOENT",
        "end",
        "finished a,b! 4",
        "string 8",
        "x,y",
        "y",
    ]


def test_the_standard_streams_have_names(javascript: Programs) -> None:
    ran = javascript(
        "const fs = require('fs'); fs.writeFileSync('/dev/stdout', fs.readFileSync('/dev/stdin'));"
        "fs.appendFileSync('/dev/stderr', 'e')",
        stdin=b"given",
    )
    assert (ran.stdout, ran.stderr, ran.files) == ("given", "e", {})


def test_a_link_is_refused_and_recorded(javascript: Programs) -> None:
    ran = javascript(
        """
        const fs = require('fs')
        try { fs.symlinkSync('/etc/passwd', 'l') } catch (e) { console.log('symlink', typeof e.code) }
        try { fs.linkSync('in.txt', 'l') } catch (e) { console.log('link', typeof e.code) }
        console.log(fs.existsSync('l'), fs.existsSync('/etc/passwd'))
        """,
        files={"in.txt": ""},
        check=True,
    )
    assert ran.stdout == "symlink string\nlink string\nfalse false\n"
    assert {d.operation for d in ran.denied} == {"path_symlink", "path_link"}


def test_files_beyond_the_memory_budget_are_refused_with_a_code(javascript: Programs) -> None:
    ran = javascript(
        """
        const part = new Uint8Array(1 << 20); const fs = require('fs')
        try { for (let i = 0; ; i++) fs.writeFileSync('f' + i, part) } catch (e) { console.log(e.code) }
        """,
        memory_bytes=32 << 20,
    )
    assert ran.stdout == "ENOSPC\n"
    assert ran.status is Status.FINISHED
