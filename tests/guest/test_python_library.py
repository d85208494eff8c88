"""The standard library does real work in the guest: what models and people reach for."""

from __future__ import annotations

import datetime

import pytest

from tests.guest.conftest import Programs


def test_everyday_modules_together(python: Programs) -> None:
    ran = python(
        """
        import collections, csv, dataclasses, decimal, fractions, io, itertools, json, re
        import sqlite3, statistics
        from pathlib import Path

        Path('in.csv').write_text('name,amount\\na,1.5\\nb,2.5\\na,3\\n')
        with open('in.csv', newline='') as f:
            rows = list(csv.DictReader(f))
        totals = collections.defaultdict(decimal.Decimal)
        for row in rows:
            totals[row['name']] += decimal.Decimal(row['amount'])

        @dataclasses.dataclass(order=True, frozen=True)
        class Total:
            name: str
            amount: decimal.Decimal

        table = sorted(Total(*item) for item in totals.items())
        print(json.dumps({t.name: str(t.amount) for t in table}))
        print(statistics.mean(float(r['amount']) for r in rows), statistics.quantiles(range(10)))
        print(re.sub(r'(\\w+) (\\w+)', r'\\2 \\1', 'hello world'))
        print(list(itertools.batched('abcde', 2)), fractions.Fraction(1, 3) + 1)
        database = sqlite3.connect(':memory:')
        database.execute('create table t(a, b)')
        database.executemany('insert into t values(?, ?)', [(i, i * i) for i in range(100)])
        print(database.execute('select sum(b), count(*) from t where a > ?', (50,)).fetchall())
        print([p.name for p in Path().glob('*.csv')], next(iter([7])))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        '{"a": "4.5", "b": "2.5"}',
        "2.3333333333333335 [1.75, 4.5, 7.25]",
        "world hello",
        "[('a', 'b'), ('c', 'd'), ('e',)] 4/3",
        "[(285425, 49)]",
        "['in.csv'] 7",
    ]


def test_sqlite_file_database_and_every_journal_mode(python: Programs) -> None:
    ran = python(
        """
        import os, sqlite3
        database = sqlite3.connect('/work/t.db')
        database.execute('create table t(a)')
        for mode in ('delete', 'truncate', 'persist', 'memory', 'wal'):
            database.execute('insert into t values(1)'); database.commit()
            print(mode, database.execute(f'pragma journal_mode={mode}').fetchone()[0])
        database.execute('pragma journal_mode=delete')
        database.execute('delete from t'); database.rollback()
        other = sqlite3.connect('t.db')
        print(other.execute('select count(*) from t').fetchone())
        other.execute('vacuum'); database.close(); other.close()
        read_only = sqlite3.connect('file:t.db?mode=ro', uri=True)
        try:
            read_only.execute('create table u(a)')
        except sqlite3.OperationalError as error:
            print(error)
        print(os.listdir('/work'))
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "delete delete",
        "truncate truncate",
        "persist persist",
        "memory memory",
        # Write-ahead logging needs shared memory; SQLite says which mode it kept.
        "wal memory",
        "(5,)",
        "attempt to write a readonly database",
        "['t.db']",
    ]


def test_sqlite_has_full_text_search_json_and_math(python: Programs) -> None:
    ran = python(
        """
        import sqlite3
        d = sqlite3.connect(':memory:')
        d.execute('create virtual table f using fts5(x)')
        d.execute("insert into f values('hello world')")
        print(d.execute("select * from f where f match 'hello'").fetchall())
        print(d.execute("select json_extract('{\\"a\\": 5}', '$.a'), sqrt(4)").fetchone())
        """,
        check=True,
    )
    assert ran.stdout == "[('hello world',)]\n(5, 2.0)\n"


@pytest.mark.parametrize(
    ("algorithm", "digest"),
    [
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha3_256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        ("blake2s", "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"),
    ],
)
def test_hashes_of_abc(python: Programs, algorithm: str, digest: str) -> None:
    ran = python(f"import hashlib\nprint(hashlib.new('{algorithm}', b'abc').hexdigest())")
    assert ran.stdout == digest + "\n"


def test_pbkdf2_gives_the_published_values(python: Programs) -> None:
    # RFC 7914 section 11, and RFC 6070 test vector 5 (sha1, a key longer than one digest).
    ran = python(
        """
        from hashlib import pbkdf2_hmac
        print(pbkdf2_hmac('sha256', b'passwd', b'salt', 1, 64).hex()[:32])
        print(pbkdf2_hmac('sha1', b'passwordPASSWORDpassword',
                          b'saltSALTsaltSALTsaltSALTsaltSALTsalt', 4096, 25).hex())
        try:
            pbkdf2_hmac('sha256', b'', b'', 0)
        except ValueError as error:
            print(error)
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "55ac046e56e3089fec1691c22544b605",
        "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
        "iteration value must be greater than 0.",
    ]


@pytest.mark.parametrize(
    ("zone", "summer", "winter"),
    [
        ("UTC", "UTC +0000", "UTC +0000"),
        ("Europe/Berlin", "CEST +0200", "CET +0100"),
        ("America/New_York", "EDT -0400", "EST -0500"),
        ("Asia/Kolkata", "IST +0530", "IST +0530"),
        ("Australia/Sydney", "AEST +1000", "AEDT +1100"),
    ],
)
def test_local_time_is_that_of_the_requested_zone(
    python: Programs, zone: str, summer: str, winter: str
) -> None:
    ran = python(
        """
        import time
        from datetime import datetime
        for month in (7, 1):
            print(datetime(2026, month, 1, 12).astimezone().strftime('%Z %z'))
        print(time.localtime(1782900000).tm_hour * 60 + time.localtime(1782900000).tm_min)
        print(time.mktime((2026, 7, 1, 12, 0, 0, 0, 0, -1)))
        print(time.tzname[0] == datetime(2026, 1, 1).astimezone().tzname()
              or time.tzname[1] == datetime(2026, 1, 1).astimezone().tzname(),
              -time.timezone, time.daylight)
        """,
        timezone=zone,
        check=True,
    )
    hours, minutes = int(summer[-5:-2]), int(summer[-5] + summer[-2:])
    offset = datetime.timedelta(hours=hours, minutes=minutes)
    instant = datetime.datetime.fromtimestamp(1782900000, datetime.timezone(offset))
    noon = datetime.datetime(2026, 7, 1, 12, tzinfo=datetime.timezone(offset))
    standard = min(int(summer[-5:-2]) * 3600 + int(summer[-5] + summer[-2:]) * 60,
                   int(winter[-5:-2]) * 3600 + int(winter[-5] + winter[-2:]) * 60)  # fmt: skip
    assert ran.stdout.splitlines() == [
        summer,
        winter,
        str(instant.hour * 60 + instant.minute),
        str(noon.timestamp()),
        f"True {standard} {int(summer[-5:] != winter[-5:])}",
    ]


def test_zoneinfo_has_all_zones(python: Programs) -> None:
    ran = python(
        """
        from datetime import datetime
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones
        print(ZoneInfo('UTC'), datetime(2026, 7, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset())
        print(len(available_timezones()) > 400)
        try:
            ZoneInfo('Europe/Nowhere')
        except ZoneInfoNotFoundError as error:
            print(error)
        """,
        check=True,
    )
    assert ran.stdout == ("UTC 2:00:00\nTrue\n'No time zone found with key Europe/Nowhere'\n")


def test_sleeping_no_time_returns_at_once(python: Programs) -> None:
    ran = python(
        "import time\nt = time.monotonic()\nfor _ in range(1000): time.sleep(0)\n"
        "print(time.monotonic() - t < 2)",
        check=True,
    )
    assert ran.stdout == "True\n"


def test_logging_to_a_rotating_file_and_relative_times(python: Programs) -> None:
    ran = python(
        """
        import logging, logging.config, logging.handlers
        record = logging.LogRecord('n', 20, 'p', 1, 'm', (), None)
        print(0 <= record.relativeCreated < 60_000)
        handler = logging.handlers.RotatingFileHandler('log.txt', maxBytes=50, backupCount=2)
        logging.basicConfig(handlers=[handler], level='INFO', format='%(levelname)s %(message)s')
        for i in range(5):
            logging.info('a line of text %d', i)
        """,
        check=True,
    )
    assert ran.stdout == "True\n"
    assert ran.files["log.txt"].endswith(b"INFO a line of text 4\n")


def test_unittest_doctest_argparse_and_help(python: Programs) -> None:
    ran = python(
        """
        import argparse, doctest, sys, unittest
        def f():
            '''
            >>> f()
            1
            '''
            return 1
        print(doctest.testmod())
        class T(unittest.TestCase):
            def test(self): self.assertEqual(1, 1)
        unittest.main(exit=False)
        help(f)
        parser = argparse.ArgumentParser(); parser.add_argument('--n', type=int, required=True)
        parser.parse_args([])
        """
    )
    assert ran.exit_code == 2
    assert "TestResults(failed=0, attempted=1)" in ran.stdout
    assert "Help on function f in module __main__:" in ran.stdout
    assert "OK\n" in ran.stderr
    assert "the following arguments are required: --n" in ran.stderr


def test_text_of_the_world(python: Programs) -> None:
    ran = python(
        "import unicodedata\n"
        "print(unicodedata.name('é'), 'ß'.upper())\n"
        "print('日本'.encode('shift_jis'), 'é'.encode('cp1252'))"
        "\nprint(unicodedata.normalize('NFD', 'é') == 'e\\u0301', sorted('zäa'), '●😊')",
        check=True,
    )
    assert ran.stdout == (
        "LATIN SMALL LETTER E WITH ACUTE SS\nb'\\x93\\xfa\\x96{' b'\\xe9'\n"
        "True ['a', 'z', 'ä'] ●😊\n"
    )


def test_xml_html_email_and_configuration_formats(python: Programs) -> None:
    ran = python(
        """
        import configparser, email.message, html, tomllib
        import xml.etree.ElementTree as tree
        from html.parser import HTMLParser
        from xml.dom import minidom
        print(tree.fromstring("<a><b x='1'/></a>")[0].attrib, minidom.parseString('<a/>').toxml())
        print(html.escape('<a>'), tomllib.loads('a = [1]'))
        c = configparser.ConfigParser(); c.read_string('[s]\\nk = v'); print(c['s']['k'])
        m = email.message.EmailMessage(); m['Subject'] = 'Grüße'; m.set_content('tëxt')
        m.add_attachment(b'x', maintype='a', subtype='b', filename='f')
        print(email.message_from_bytes(bytes(m)).is_multipart())
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "{'x': '1'} <?xml version=\"1.0\" ?><a/>",
        "&lt;a&gt; {'a': [1]}",
        "v",
        "True",
    ]


def test_numbers_as_on_every_machine(python: Programs) -> None:
    ran = python(
        "import math\nprint(0.1 + 0.2, 1e308 * 10, 5e-324, round(2.675, 2), 2**200 % 97)\n"
        "print(math.sin(1), math.comb(50, 20), len(str(3**5000)), (-7) // 2, math.fsum([.1] * 10))",
        check=True,
    )
    assert ran.stdout == (
        "0.30000000000000004 inf 5e-324 2.67 62\n0.8414709848078965 47129212243960 2386 -4 1.0\n"
    )
