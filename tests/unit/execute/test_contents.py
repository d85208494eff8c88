"""Contents as values are read when asked for, and equal what the guest wrote."""

from __future__ import annotations

import pytest

from nova_desktop.execute.contents import LazyContents
from nova_desktop.execute.plan import make_plan
from nova_desktop.sandbox.wasm import MemoryBudget, MemoryFileSystem


def test_contents_are_those_of_created_files_only() -> None:
    files = MemoryFileSystem(MemoryBudget(1 << 20))
    files.stage_directory("d")
    files.stage_file("d/a.txt", b"content")
    contents = LazyContents(make_plan({}, files.walk(), most_bytes=1 << 20))
    assert dict(contents) == {"d/a.txt": b"content"}
    assert len(contents) == 1
    with pytest.raises(KeyError):
        contents["d"]
