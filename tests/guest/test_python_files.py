"""Files and folders as a Python program sees them: all in memory, with the usual semantics."""

from __future__ import annotations

import pytest

from nova_desktop.model import Status
from tests.guest.conftest import Programs


def test_a_large_folder_is_listed_completely(python: Programs) -> None:
    ran = python(
        """
        import os
        os.mkdir('/work/d')
        for i in range(500):
            open(f'/work/d/{"n" * 60}{i}', 'w').close()
        names = os.listdir('/work/d')
        print(len(names), len(set(names)))
        """,
        check=True,
    )
    assert ran.stdout == "500 500\n"


def test_rmtree_of_a_deep_and_wide_tree(python: Programs) -> None:
    ran = python(
        """
        import os, shutil
        for level in range(3):
            folder = '/work/t' + '/sub' * level
            os.makedirs(folder, exist_ok=True)
            for i in range(120):
                open(f'{folder}/{i}.txt', 'w').write('x' * 1000)
        shutil.rmtree('/work/t')
        print(os.listdir('/work'))
        """,
        check=True,
    )
    assert ran.stdout == "[]\n"
    assert ran.files == {}


def test_removed_files_give_their_memory_back(python: Programs) -> None:
    ran = python(
        "import os\nfor i in range(40):\n"
        "    with open('big', 'wb') as f: f.write(bytes(8_000_000))\n    os.remove('big')",
        memory_bytes=100_000_000,
    )
    assert (ran.status, ran.stderr) == (Status.FINISHED, "")


def test_append_mode_reads_anywhere_and_writes_at_the_end(python: Programs) -> None:
    ran = python(
        """
        f = open('/work/l', 'ab+')
        f.write(b'abc'); f.flush(); f.seek(0); print(f.read()); f.seek(0); f.write(b'd')
        """,
        check=True,
    )
    assert ran.stdout == "b'abc'\n"
    assert ran.files == {"l": b"abcd"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../..", "inside"])
def test_links_are_refused(python: Programs, target: str) -> None:
    ran = python(
        f"""
        import os
        open('inside', 'w').write('x')
        try:
            os.symlink({target!r}, '/work/l')
        except OSError as error:
            print(type(error).__name__)
        print(os.path.lexists('/work/l'), os.listdir('/work'))
        """,
        check=True,
    )
    assert ran.stdout.splitlines()[1] == "False ['inside']"
    assert ran.denied
    assert set(ran.files) == {"inside"}


def test_rename_relative_to_open_folders_and_over_an_existing_file(python: Programs) -> None:
    ran = python(
        """
        import os
        os.makedirs('r'); os.makedirs('s')
        open('r/a', 'w').write('new'); open('s/b', 'w').write('old')
        fd = os.open('/work/r', os.O_RDONLY)
        os.rename('a', 'c', src_dir_fd=fd, dst_dir_fd=fd)
        os.replace('/work/r/c', '/work/s/b')
        print(os.listdir('r'), open('s/b').read())
        """,
        check=True,
    )
    assert ran.stdout == "[] new\n"


def test_seek_past_the_end_leaves_zeros(python: Programs) -> None:
    ran = python(
        "with open('h', 'wb') as f:\n    f.seek(5); f.write(b'z')\n"
        "import os\nos.truncate('h', 8)\nprint(open('h', 'rb').read())",
        check=True,
    )
    assert ran.stdout == "b'\\x00\\x00\\x00\\x00\\x00z\\x00\\x00'\n"


def test_shutil_archives_and_copies(python: Programs) -> None:
    ran = python(
        """
        import glob, os, shutil
        os.makedirs('a/b'); open('a/x.txt', 'w').write('x'); open('a/b/y.txt', 'w').write('y')
        os.utime('a/x.txt', (10**9, 10**9))
        shutil.copytree('a', 'c')
        for kind in ('zip', 'tar', 'gztar', 'bztar', 'xztar'):
            name = shutil.make_archive(f'/tmp/arch-{kind}', kind, 'a')
            shutil.unpack_archive(name, f'out-{kind}')
        print(len(glob.glob('out-*/**/*.txt', recursive=True)), os.path.getmtime('c/x.txt'))
        print(shutil.move('c/x.txt', 'moved.txt'), sorted(os.listdir('c')))
        """,
        check=True,
    )
    assert ran.stdout == "10 1000000000.0\nmoved.txt ['b']\n"


def test_walks_of_a_tree_agree(python: Programs) -> None:
    ran = python(
        """
        import os
        from pathlib import Path
        walked = sorted(os.path.join(r, f)[2:] for r, _, fs in os.walk('.') for f in fs)
        globbed = sorted(str(p) for p in Path('.').rglob('*') if p.is_file())
        with os.scandir('data') as entries:
            scanned = sorted((e.name, e.is_dir(), e.stat().st_size) for e in entries)
        print(walked == globbed, walked, scanned, Path('data') / 'a.csv')
        """,
        files={"data/a.csv": "1,2\n", "data/sub/b.csv": "", "top.txt": ""},
        check=True,
    )
    assert ran.stdout == (
        "True ['data/a.csv', 'data/sub/b.csv', 'top.txt'] "
        "[('a.csv', False, 4), ('sub', True, 0)] data/a.csv\n"
    )


def test_temporary_files_and_folders(python: Programs) -> None:
    ran = python(
        """
        import os, tempfile
        with tempfile.TemporaryDirectory() as folder:
            print(folder.startswith('/tmp/'), os.listdir(folder))
        with tempfile.NamedTemporaryFile('w+', suffix='.txt') as f:
            f.write('abc'); f.seek(0); print(f.read(), os.path.exists(f.name))
        with tempfile.TemporaryFile() as f:
            f.write(b'x'); f.seek(0); print(f.read())
        with tempfile.SpooledTemporaryFile(max_size=2) as f:
            f.write(b'long'); f.seek(0); print(f.read())
        handle, path = tempfile.mkstemp()
        os.close(handle)
        print(os.listdir('/tmp') == [os.path.basename(path)])
        """,
        check=True,
    )
    assert ran.stdout == "True []\nabc True\nb'x'\nb'long'\nTrue\n"
    assert ran.files == {}


@pytest.mark.parametrize(
    "action",
    [
        "open('/x', 'w')",
        "open('/usr/lib/python313.zip', 'r+b')",
        "os.remove('/usr/lib/python313.zip')",
        "os.rename('/usr', '/tmp/u')",
        "os.mkdir('/etc')",
        "open('/work/../../../x', 'w')",
    ],
)
def test_only_work_and_tmp_can_be_written(python: Programs, action: str) -> None:
    ran = python(f"import os\n{action}")
    assert ran.status is Status.FAILED
    assert ran.report is not None
    assert ran.report.type in ("PermissionError", "OSError", "FileNotFoundError")


def test_nothing_of_the_host_is_there(python: Programs) -> None:
    ran = python(
        """
        import os
        print(sorted(os.listdir('/')), os.path.exists('/etc/passwd'), os.path.exists('/proc'))
        """,
        check=True,
    )
    assert ran.stdout == "['dev', 'tmp', 'usr', 'work'] False False\n"


def test_os_errors_are_the_expected_classes(python: Programs) -> None:
    ran = python(
        """
        import os
        os.mkdir('d'); open('f', 'w').write('x')
        for action in (
            lambda: open('nope'), lambda: open('d'), lambda: os.mkdir('d'), lambda: os.rmdir('f'),
            lambda: os.listdir('f'), lambda: open('f', 'x'), lambda: os.remove('nope'),
            lambda: os.chmod('nope', 0o755), lambda: open('f/x'),
        ):
            try:
                action()
            except OSError as error:
                print(type(error).__name__, end=' ')
        """,
        check=True,
    )
    assert ran.stdout.split() == [
        "FileNotFoundError",
        "IsADirectoryError",
        "FileExistsError",
        "NotADirectoryError",
        "NotADirectoryError",
        "FileExistsError",
        "FileNotFoundError",
        "FileNotFoundError",
        "NotADirectoryError",
    ]


def test_gzip_bz2_lzma_and_zip_files(python: Programs) -> None:
    ran = python(
        """
        import bz2, gzip, lzma, zipfile
        for module in (gzip, bz2, lzma):
            with module.open('f', 'wt') as f: f.write('text ' * 100)
            with module.open('f', 'rt') as f: print(len(f.read()), end=' ')
        with zipfile.ZipFile('z.zip', 'w', zipfile.ZIP_LZMA) as z: z.writestr('a', 'b' * 100)
        print(zipfile.ZipFile('z.zip').read('a') == b'b' * 100)
        """,
        check=True,
    )
    assert ran.stdout == "500 500 500 True\n"
