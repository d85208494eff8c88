"""Local time in the guests (``common/localtime.c``) against CPython's zoneinfo."""

from __future__ import annotations

import json

import pytest

from tests.guest.conftest import Programs

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # summer time across the new year
    "Asia/Kolkata",  # half an hour
    "Australia/Lord_Howe",  # daylight saving of half an hour
    "Africa/Casablanca",  # negative daylight saving, transitions listed for decades
    "Asia/Tehran",  # abolished daylight saving
    "Pacific/Kiritimati",  # +14
    "America/Nuuk",  # changes before midnight, with a negative hour in its rule
    "Africa/Monrovia",  # once 44 minutes and 30 seconds
]
MOMENTS = [
    -2_000_000_000,
    -1,
    0,
    63_590_400,
    1_000_000_000,
    1_700_000_000,
    *range(1_735_689_600, 1_767_225_600, 7 * 86_400 + 3_607),  # a year in steps of odd length
    1_743_296_399,  # Europe puts the clock forward
    1_743_296_400,
    1_761_439_999,
    1_761_440_000,  # and back
    4_000_000_000,  # beyond the listed transitions: the rule in the footer decides
    4_010_000_000,
    7_258_118_400,
]

COMPARE = """
import datetime, json, sys, time, zoneinfo
zone = zoneinfo.ZoneInfo(sys.argv[1])
for moment in json.load(sys.stdin):
    local = time.localtime(moment)
    wanted = datetime.datetime.fromtimestamp(moment, zone)
    offset = int(wanted.utcoffset().total_seconds())
    found = local.tm_gmtoff, local.tm_zone, time.mktime(local), tuple(local)[:6]
    expected = offset, wanted.tzname(), moment, tuple(wanted.timetuple())[:6]
    assert found == expected, (found, expected)
print(offset)
"""


@pytest.mark.parametrize("name", ZONES)
def test_local_time_is_that_of_the_zone_and_can_be_turned_back(python: Programs, name: str) -> None:
    """The same database through two readers: ours in C and CPython's zoneinfo."""
    moments = json.dumps(MOMENTS).encode()
    python(COMPARE, stdin=moments, timezone=name, arguments=(name,), check=True)


def test_the_comparison_notices_another_zone(python: Programs) -> None:
    """The control of the test above."""
    moments = json.dumps(MOMENTS).encode()
    ran = python(COMPARE, stdin=moments, timezone="Asia/Kolkata", arguments=("UTC",))
    assert "AssertionError" in ran.stderr


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("2025, 3, 30, 2, 30, 0, 0, 0, -1", "2025-03-30T03:30:00+02:00"),  # does not exist
        ("2025, 10, 26, 2, 30, 0, 0, 0, -1", "2025-10-26T02:30:00+02:00"),  # twice: the first
        ("2025, 10, 26, 2, 30, 0, 0, 0, 1", "2025-10-26T02:30:00+02:00"),
        ("2025, 10, 26, 2, 30, 0, 0, 0, 0", "2025-10-26T02:30:00+01:00"),
        ("2025, 7, 1, 12, 0, 0, 0, 0, 0", "2025-07-01T13:00:00+02:00"),  # winter time in summer
        ("2025, 14, 31, 12, 0, 0, 0, 0, -1", "2026-03-03T12:00:00+01:00"),  # out of range
    ],
)
def test_a_local_time_that_is_not_one_moment(python: Programs, fields: str, wanted: str) -> None:
    source = f"""
    import datetime, time
    moment = time.mktime(({fields}))
    print(datetime.datetime.fromtimestamp(moment).astimezone().isoformat())
    """
    assert python(source, timezone="Europe/Berlin", check=True).stdout.strip() == wanted


def test_javascript_sees_the_same_zone(javascript: Programs) -> None:
    source = "console.log(new Date(1750000000000).getTimezoneOffset())"
    assert javascript(source, timezone="Europe/Berlin", check=True).stdout.strip() == "-120"
    assert javascript(source, timezone="America/New_York", check=True).stdout.strip() == "240"
