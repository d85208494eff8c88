"""Media types by name, the same on every machine."""

from __future__ import annotations

import pytest

from nova_desktop.execute.media import media_type


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("report.csv", "text/csv"),
        ("a/b/CHART.SVG", "image/svg+xml"),
        ("archive.tar.gz", "application/gzip"),
        ("README", "application/octet-stream"),
        ("folder.csv/data", "application/octet-stream"),
        ("x.unknown", "application/octet-stream"),
        (".csv", "text/csv"),
    ],
)
def test_the_last_suffix_decides(path: str, expected: str) -> None:
    assert media_type(path) == expected
