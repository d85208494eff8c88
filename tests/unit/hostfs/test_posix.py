"""The confined folder handle, attacked. Each attack has a control that succeeds without it."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nova_desktop.hostfs import (
    FileKind,
    NotARegularFile,
    OutsideName,
    StillChanging,
    TooLarge,
    open_directory,
)

if os.name != "posix":
    pytest.skip("only on POSIX: Windows has a handle of its own", allow_module_level=True)

from nova_desktop.hostfs.posix import Directory

SECRET = b"the owner's secret"
LIMIT = 1 << 20


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_bytes(SECRET)
    return folder


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.fixture
def directory(inside: Path) -> Iterator[Directory]:
    with open_directory(inside) as opened:
        yield opened


def _write(directory: Directory, content: bytes = b"new", mode: int = 0o644) -> str:
    name, _ = directory.write_temporary(
        [content], mode=mode, mtime_ns=10**18, replaces=None, flush=False
    )
    return name


@pytest.mark.security
def test_a_link_swapped_in_after_the_scan_is_not_followed(
    directory: Directory, inside: Path, outside: Path
) -> None:
    (inside / "data.txt").write_bytes(b"harmless")
    (entry,) = directory.scan()
    assert entry.state.kind is FileKind.FILE
    (inside / "data.txt").unlink()
    (inside / "data.txt").symlink_to(outside / "secret.txt")

    assert (inside / entry.name).read_bytes() == SECRET  # control: a path is followed
    with pytest.raises(NotARegularFile, match="link"):
        directory.read_file(entry.name, limit=LIMIT)


@pytest.mark.security
def test_a_folder_replaced_by_a_link_after_the_scan_is_not_entered(
    directory: Directory, inside: Path, outside: Path
) -> None:
    (inside / "sub").mkdir()
    (entry,) = directory.scan()
    (inside / "sub").rmdir()
    (inside / "sub").symlink_to(outside)

    assert os.listdir(inside / entry.name) == ["secret.txt"]  # control
    with pytest.raises(NotADirectoryError):
        directory.folder(entry.name)
    with pytest.raises(NotADirectoryError):
        directory.descend(["sub"])


@pytest.mark.security
def test_an_open_folder_stays_the_same_folder_when_its_path_becomes_a_link(
    directory: Directory, inside: Path, outside: Path, tmp_path: Path
) -> None:
    inside.rename(tmp_path / "moved")
    inside.symlink_to(outside)

    directory.create_from(_write(directory), "new.txt")
    assert (tmp_path / "moved" / "new.txt").read_bytes() == b"new"
    assert not (outside / "new.txt").exists()
    (inside / "control.txt").write_bytes(b"")  # control: a path leads out
    assert (outside / "control.txt").exists()


@pytest.mark.security
def test_the_folder_itself_may_not_be_a_link(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "link").symlink_to(outside)
    assert os.listdir(tmp_path / "link")  # control
    with pytest.raises(NotADirectoryError):
        open_directory(tmp_path / "link")


@pytest.mark.security
@pytest.mark.parametrize("name", ["..", ".", "", "../outside", "/etc/passwd", "a/b", "a\0b"])
@pytest.mark.parametrize(
    "use",
    [
        lambda directory, name: directory.state(name),
        lambda directory, name: directory.folder(name),
        lambda directory, name: directory.descend([name]),
        lambda directory, name: directory.read_file(name, limit=LIMIT),
        lambda directory, name: directory.make_folder(name),
        lambda directory, name: directory.remove_file(name),
        lambda directory, name: directory.remove_folder(name),
        lambda directory, name: directory.set_permissions(name, 0o644),
        lambda directory, name: directory.create_from("x", name),
        lambda directory, name: directory.create_from(name, "x"),
        lambda directory, name: directory.replace_from("x", name),
        lambda directory, name: directory.replace_from(name, "x"),
        lambda directory, name: directory.exchange("x", name),
        lambda directory, name: directory.exchange(name, "x"),
        lambda directory, name: directory.set_aside(name),
    ],
)
def test_only_single_names_are_accepted(
    directory: Directory, name: str, use: Callable[[Directory, str], object]
) -> None:
    with pytest.raises(OutsideName):
        use(directory, name)


@pytest.mark.security
def test_control_the_kernel_does_follow_dot_dot_below_a_handle(inside: Path, outside: Path) -> None:
    handle = os.open(inside, os.O_RDONLY)
    try:
        descriptor = os.open("../outside/secret.txt", os.O_RDONLY, dir_fd=handle)
        assert os.read(descriptor, 100) == SECRET
        os.close(descriptor)
    finally:
        os.close(handle)


@pytest.mark.security
def test_a_pipe_is_refused_without_waiting_for_a_writer(directory: Directory, inside: Path) -> None:
    os.mkfifo(inside / "pipe")
    done = threading.Event()

    def control() -> None:
        with (inside / "pipe").open("rb"):
            done.set()

    waiting = threading.Thread(target=control, daemon=True)
    waiting.start()
    assert not done.wait(0.1)  # control: a plain open waits
    with pytest.raises(NotARegularFile, match="special"):
        directory.read_file("pipe", limit=LIMIT)
    os.close(os.open(inside / "pipe", os.O_WRONLY))
    waiting.join(5)


@pytest.mark.security
def test_a_socket_and_a_device_are_refused(directory: Directory, inside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(inside / "socket"))
        with pytest.raises(NotARegularFile):
            directory.read_file("socket", limit=LIMIT)
    with open_directory("/dev") as devices, pytest.raises(NotARegularFile):
        devices.read_file("zero", limit=LIMIT)


@pytest.mark.security
def test_replacing_a_hard_link_leaves_its_other_name_alone(
    directory: Directory, inside: Path, outside: Path
) -> None:
    os.link(outside / "secret.txt", inside / "data.txt")
    directory.replace_from(_write(directory), "data.txt")
    assert (inside / "data.txt").read_bytes() == b"new"
    assert (outside / "secret.txt").read_bytes() == SECRET

    os.link(outside / "secret.txt", inside / "control.txt")
    (inside / "control.txt").write_bytes(b"overwritten")  # control
    assert (outside / "secret.txt").read_bytes() == b"overwritten"


@pytest.mark.security
def test_replacing_a_link_replaces_the_link_and_not_its_target(
    directory: Directory, inside: Path, outside: Path
) -> None:
    (inside / "data.txt").symlink_to(outside / "secret.txt")
    directory.replace_from(_write(directory), "data.txt")
    assert not (inside / "data.txt").is_symlink()
    assert (outside / "secret.txt").read_bytes() == SECRET

    (inside / "control.txt").symlink_to(outside / "secret.txt")
    (inside / "control.txt").write_bytes(b"overwritten")  # control
    assert (outside / "secret.txt").read_bytes() == b"overwritten"


def test_two_entries_change_places(directory: Directory, inside: Path) -> None:
    (inside / "a").write_bytes(b"1")
    temporary = _write(directory)
    if not directory.exchange(temporary, "a"):
        pytest.skip("only on Linux: renameat2")
    assert (inside / "a").read_bytes() == b"new"
    assert (inside / temporary).read_bytes() == b"1"
    with pytest.raises(FileNotFoundError):
        directory.exchange(temporary, "not there")


def test_an_entry_is_set_aside(directory: Directory, inside: Path) -> None:
    (inside / "a").write_bytes(b"1")
    aside = directory.set_aside("a")
    assert [path.name for path in inside.iterdir()] == [aside]


@pytest.mark.security
def test_a_new_file_never_takes_the_place_of_anything(
    directory: Directory, inside: Path, outside: Path
) -> None:
    (inside / "file").write_bytes(b"owner's")
    (inside / "link").symlink_to(outside / "not-there")
    for name in ("file", "link"):
        with pytest.raises(FileExistsError):
            directory.create_from(_write(directory), name)
    assert (inside / "file").read_bytes() == b"owner's"
    (inside / "control").write_bytes(b"other")
    (inside / "control").rename(inside / "file")  # control: rename overwrites
    assert (inside / "file").read_bytes() == b"other"


@pytest.mark.security
@pytest.mark.parametrize("replaces", [False, True])
def test_set_id_bits_are_dropped(directory: Directory, inside: Path, replaces: bool) -> None:
    (inside / "tool").write_bytes(b"old")
    (inside / "tool").chmod(0o6755)
    assert (inside / "tool").stat().st_mode & 0o6000  # control: the file system keeps them
    old = "tool" if replaces else None
    name, _ = directory.write_temporary([b"new"], mode=0o6755, mtime_ns=0, replaces=old, flush=True)
    assert stat.S_IMODE((inside / name).stat().st_mode) == 0o755
    directory.set_permissions("tool", 0o6700)
    assert stat.S_IMODE((inside / "tool").stat().st_mode) == 0o700


def test_a_new_file_obeys_the_owners_umask(directory: Directory, inside: Path) -> None:
    before = os.umask(0o077)
    try:
        name = _write(directory, mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((inside / name).stat().st_mode) == 0o600


def test_a_replacement_keeps_mode_owner_and_gets_its_time(
    directory: Directory, inside: Path
) -> None:
    (inside / "data").write_bytes(b"old")
    (inside / "data").chmod(0o664)
    if os.geteuid() == 0:
        os.chown(inside / "data", 65534, 65534)
    old = directory.state("data")
    assert old is not None
    name, _ = directory.write_temporary(
        [b"new"], mode=old.permissions, mtime_ns=123456789, replaces="data", flush=False
    )
    directory.replace_from(name, "data")
    now = directory.state("data")
    assert now is not None
    assert (now.permissions, now.owner, now.group) == (0o664, old.owner, old.group)
    assert now.mtime_ns == 123456789


def test_a_replacement_keeps_user_attributes_and_drops_capabilities(
    directory: Directory, inside: Path
) -> None:
    if not hasattr(os, "setxattr"):
        pytest.skip("only on Linux: extended attributes")
    (inside / "data").write_bytes(b"old")
    os.setxattr(inside / "data", "user.tag", b"blue")
    if os.geteuid() == 0:
        no_power = b"\x01\x00\x00\x02" + bytes(16)  # struct vfs_cap_data of version 2
        os.setxattr(inside / "data", "security.capability", no_power)
        assert "security.capability" in os.listxattr(inside / "data")  # control
    name, _ = directory.write_temporary(
        [b"new"], mode=0o644, mtime_ns=0, replaces="data", flush=False
    )
    assert os.getxattr(inside / name, "user.tag") == b"blue"
    assert "security.capability" not in os.listxattr(inside / name)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="only on Linux: extended attributes")
def test_a_file_system_without_attributes_or_owners_takes_a_replacement_all_the_same(
    directory: Directory, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    (inside / "data").write_bytes(b"old")
    monkeypatch.setattr(os, "listxattr", unsupported)
    name, _ = directory.write_temporary(
        [b"new"], mode=0o644, mtime_ns=0, replaces="data", flush=False
    )
    assert (inside / name).read_bytes() == b"new"
    monkeypatch.setattr(os, "listxattr", lambda _: ["user.tag"])
    monkeypatch.setattr(os, "getxattr", lambda *_: b"blue")
    monkeypatch.setattr(os, "setxattr", unsupported)
    directory.write_temporary([b"new"], mode=0o644, mtime_ns=0, replaces="data", flush=False)


def test_a_failed_write_leaves_nothing_behind(directory: Directory, inside: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        directory.write_temporary(broken(), mode=0o644, mtime_ns=0, replaces=None, flush=False)
    assert list(inside.iterdir()) == []


def test_a_file_that_changes_once_while_read_is_read_again(
    directory: Directory, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "data").write_bytes(b"first")
    _change_during_reads(monkeypatch, inside / "data", [b"second, longer"])
    content, state = directory.read_file("data", limit=LIMIT)
    assert content == b"second, longer"
    assert state.size == len(content)


def test_a_file_that_keeps_changing_is_not_read(
    directory: Directory, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "data").write_bytes(b"first")
    _change_during_reads(monkeypatch, inside / "data", [b"second", b"3"])
    with pytest.raises(StillChanging):
        directory.read_file("data", limit=LIMIT)


def test_a_change_that_keeps_the_size_and_sets_the_time_back_is_seen(
    directory: Directory, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = inside / "data"
    file.write_bytes(b"first")
    before = file.stat()
    _change_during_reads(monkeypatch, file, [b"other", b"third"], times=before)
    with pytest.raises(StillChanging):
        directory.read_file("data", limit=LIMIT)
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def _change_during_reads(
    monkeypatch: pytest.MonkeyPatch,
    file: Path,
    contents: list[bytes],
    times: os.stat_result | None = None,
) -> None:
    real_read = os.read

    def read(descriptor: int, size: int) -> bytes:
        content = real_read(descriptor, size)
        if contents:
            file.write_bytes(contents.pop(0))
            if times is not None:
                os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        return content

    monkeypatch.setattr(os, "read", read)


def test_a_file_over_the_limit_is_not_read(directory: Directory, inside: Path) -> None:
    with (inside / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge):
        directory.read_file("sparse", limit=LIMIT)


def test_scan_lists_itself_and_not_what_links_point_to(
    directory: Directory, inside: Path, outside: Path
) -> None:
    (inside / "b").write_bytes(b"12")
    (inside / "a").mkdir()
    (inside / "link").symlink_to(outside)
    os.mkfifo(inside / "pipe")
    with open(os.fsencode(inside) + b"/\xff", "wb"):
        pass
    kinds = {entry.name: entry.state.kind for entry in directory.scan()}
    assert list(kinds) == sorted(kinds)
    assert kinds == {
        "a": FileKind.DIRECTORY,
        "b": FileKind.FILE,
        "link": FileKind.LINK,
        "pipe": FileKind.SPECIAL,
        "\udcff": FileKind.FILE,
    }


def test_descend_closes_what_it_opened(directory: Directory, inside: Path) -> None:
    (inside / "a" / "b").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    directory.descend(["a", "b"]).close()
    with pytest.raises(FileNotFoundError):
        directory.descend(["a", "not", "there"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_descriptors_are_not_inherited(directory: Directory) -> None:
    assert os.get_inheritable(directory._descriptor) is False


def test_flushing_the_file_system_works_on_this_system(directory: Directory) -> None:
    _write(directory)
    directory.flush_file_system()
