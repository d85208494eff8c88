"""Attacks on the host-call layer by modules of the attacker's own making."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_desktop.model import Status
from nova_desktop.sandbox.wasm.errno import Errno
from nova_desktop.sandbox.wasm.wasi_abi import DIRECTORY_RIGHTS, FILE_RIGHTS
from tests.attack.raw_module import Call

TOP = 3 * 65536
"""The size of the module's memory: two pages that the calls are aimed at, one for results."""

OPEN_FILE: Call = ("path_open", (3, 0, 1024, 6, 1, FILE_RIGHTS, FILE_RIGHTS, 0, 64))
NARROW = FILE_RIGHTS & ~(1 << 6)
OPEN_READ_ONLY: Call = ("path_open", (3, 0, 1024, 6, 1, NARROW, NARROW, 0, 64))


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


DATA: Mapping[int, bytes] = {
    1024: b"work/a",
    1040: b"work/b",
    1056: b"work",
    1072: b"../../../../etc/passwd",
    1104: b"/etc/passwd",
    1152: b"work/a\0b",
    1168: b"beside",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAttack:
    """The last call is the attack; it must return one of ``errnos``, or the run end so."""

    name: str
    calls: tuple[Call, ...]
    control: tuple[Call, ...]
    """The same with valid arguments: its last call must return 0."""
    errnos: frozenset[int] = frozenset()
    status: Status = Status.FINISHED
    data: Mapping[int, bytes] = field(default_factory=dict)
    denied: str = ""
    """The operation that must be found in ``denied``; refused by design, so no control but the
    log itself exists: the control shows another call of the same module succeed."""


def _raw(
    name: str,
    attack: tuple[Call, ...],
    control: tuple[Call, ...],
    *errnos: Errno,
    status: Status = Status.FINISHED,
    data: Mapping[int, bytes] | None = None,
    denied: str = "",
) -> RawAttack:
    return RawAttack(
        name=name,
        calls=attack,
        control=control,
        errnos=frozenset(map(int, errnos)),
        status=status,
        data=data or {},
        denied=denied,
    )


FAULT, INVAL, BADF = Errno.FAULT, Errno.INVAL, Errno.BADF
WRITE_OK: tuple[Call, ...] = (OPEN_FILE, ("fd_write", (4, 0, 1, 64)))
ONE_VECTOR = {0: words(2048, 16)}

RAW_ATTACKS: tuple[RawAttack, ...] = (
    _raw(
        "has-entropy-written-across-the-end-of-its-memory",
        (("random_get", (TOP - 4, 8)),),
        (("random_get", (TOP - 8, 8)),),
        FAULT,
    ),
    _raw(
        "wraps-a-pointer-around-four-gigabytes",
        (("random_get", (0xFFFF_FFFC, 8)),),
        (("random_get", (TOP - 8, 8)),),
        FAULT,
    ),
    _raw(
        "names-a-length-that-is-negative-when-signed",
        (("random_get", (16, 0x8000_0000)),),
        (("random_get", (16, 8)),),
        FAULT,
        INVAL,
    ),
    _raw(
        "writes-out-host-memory-through-a-vector-beyond-its-end",
        (OPEN_FILE, ("fd_write", (4, 0, 1, 64))),
        WRITE_OK,
        FAULT,
        data={0: words(TOP - 8, 64)},
    ),
    _raw(
        "writes-out-host-memory-through-a-vector-that-wraps",
        (OPEN_FILE, ("fd_write", (4, 0, 1, 64))),
        WRITE_OK,
        FAULT,
        data={0: words(16, 0xFFFF_FFF8)},
    ),
    _raw(
        "puts-the-vectors-themselves-across-the-end",
        (OPEN_FILE, ("fd_write", (4, TOP - 4, 1, 64))),
        WRITE_OK,
        FAULT,
    ),
    _raw(
        "has-the-count-written-beyond-its-memory",
        (OPEN_FILE, ("fd_write", (4, 0, 1, TOP - 2))),
        WRITE_OK,
        FAULT,
        data=ONE_VECTOR,
    ),
    _raw(
        "passes-more-vectors-than-a-call-may-look-at",
        (OPEN_FILE, ("fd_write", (4, 0, 0x1000_0000, 64))),
        WRITE_OK,
        INVAL,
    ),
    _raw(
        "has-a-time-written-beyond-its-memory",
        (("clock_time_get", (0, 0, TOP - 7)),),
        (("clock_time_get", (0, 0, TOP - 8)),),
        FAULT,
    ),
    _raw(
        "has-a-file-status-written-across-the-end",
        (OPEN_FILE, ("fd_filestat_get", (4, TOP - 63))),
        (OPEN_FILE, ("fd_filestat_get", (4, TOP - 64))),
        FAULT,
    ),
    _raw(
        "has-directory-entries-written-beyond-its-memory",
        (("fd_readdir", (3, TOP - 16, 4096, 0, 64)),),
        (("fd_readdir", (3, 4096, 4096, 0, 64)),),
        FAULT,
    ),
    _raw(
        "names-a-path-beyond-its-memory",
        (("path_create_directory", (3, TOP - 2, 6)),),
        (("path_create_directory", (3, 1024, 6)),),
        FAULT,
    ),
    _raw(
        "names-a-path-of-two-gigabytes",
        (("path_create_directory", (3, 0, 0x7FFF_FFFF)),),
        (("path_create_directory", (3, 1024, 6)),),
        FAULT,
        Errno.NAMETOOLONG,
    ),
    _raw(
        "subscribes-to-more-events-than-a-call-may-look-at",
        (("poll_oneoff", (0, 4096, 0x0100_0000, 64)),),
        (("poll_oneoff", (0, 4096, 1, 64)),),
        INVAL,
    ),
    _raw(
        "opens-a-path-above-the-root",
        (("path_open", (3, 0, 1072, 22, 0, FILE_RIGHTS, 0, 0, 64)),),
        (OPEN_FILE,),
        Errno.NOTCAPABLE,
        Errno.PERM,
        Errno.NOENT,
    ),
    _raw(
        "opens-an-absolute-path",
        (("path_open", (3, 0, 1104, 11, 0, FILE_RIGHTS, 0, 0, 64)),),
        (OPEN_FILE,),
        Errno.NOTCAPABLE,
        Errno.PERM,
        Errno.NOENT,
    ),
    _raw(
        "opens-a-path-above-a-folder-below-the-root",
        (
            ("path_open", (3, 0, 1056, 4, 2, DIRECTORY_RIGHTS, FILE_RIGHTS, 0, 64)),
            ("path_open", (4, 0, 1072, 22, 0, FILE_RIGHTS, 0, 0, 64)),
        ),
        (OPEN_FILE,),
        Errno.NOTCAPABLE,
        Errno.PERM,
        Errno.NOENT,
    ),
    _raw(
        "hides-a-zero-byte-in-a-path",
        (("path_open", (3, 0, 1152, 8, 1, FILE_RIGHTS, 0, 0, 64)),),
        (OPEN_FILE,),
        INVAL,
        Errno.ILSEQ,
    ),
    _raw(
        "creates-a-file-beside-work",
        (("path_open", (3, 0, 1168, 6, 1, FILE_RIGHTS, 0, 0, 64)),),
        (OPEN_FILE,),
        Errno.ROFS,
        denied="path_open",
    ),
    _raw(
        "widens-the-rights-of-a-descriptor",
        (OPEN_READ_ONLY, ("fd_fdstat_set_rights", (4, FILE_RIGHTS, FILE_RIGHTS))),
        (OPEN_READ_ONLY, ("fd_fdstat_set_rights", (4, NARROW, 0))),
        Errno.NOTCAPABLE,
    ),
    _raw(
        "writes-with-a-descriptor-without-that-right",
        (OPEN_READ_ONLY, ("fd_write", (4, 0, 1, 64))),
        WRITE_OK,
        Errno.NOTCAPABLE,
        BADF,
        data=ONE_VECTOR,
    ),
    _raw(
        "makes-a-hard-link-with-a-raw-call",
        (OPEN_FILE, ("path_link", (3, 0, 1024, 6, 3, 1040, 6))),
        (OPEN_FILE, ("path_rename", (3, 1024, 6, 3, 1040, 6))),
        *(Errno.NOTSUP, Errno.PERM, Errno.NOTCAPABLE),
        denied="path_link",
    ),
    _raw(
        "makes-a-link-with-a-raw-call",
        (("path_symlink", (1104, 11, 3, 1040, 6)),),
        (("path_create_directory", (3, 1040, 6)),),
        *(Errno.NOTSUP, Errno.PERM, Errno.NOTCAPABLE),
        denied="path_symlink",
    ),
    _raw(
        "accepts-a-connection-with-a-raw-call",
        (("sock_accept", (3, 0, 64)),),
        (("fd_fdstat_get", (3, 64)),),
        *(Errno.NOTSOCK, Errno.NOTSUP),
        denied="sock_accept",
    ),
    _raw(
        "receives-with-a-raw-call",
        (("sock_recv", (3, 0, 1, 0, 64, 72)),),
        (("fd_fdstat_get", (3, 64)),),
        *(Errno.NOTSOCK, Errno.NOTSUP),
        denied="sock_recv",
    ),
    _raw(
        "sends-with-a-raw-call",
        (("sock_send", (3, 0, 1, 0, 64)),),
        (("fd_fdstat_get", (3, 64)),),
        *(Errno.NOTSOCK, Errno.NOTSUP),
        denied="sock_send",
    ),
    _raw(
        "shuts-down-with-a-raw-call",
        (("sock_shutdown", (3, 1)),),
        (("fd_fdstat_get", (3, 64)),),
        *(Errno.NOTSOCK, Errno.NOTSUP),
        denied="sock_shutdown",
    ),
    _raw(
        "raises-a-signal-with-a-raw-call",
        (("proc_raise", (9,)),),
        (("sched_yield", ()),),
        Errno.NOTSUP,
        denied="proc_raise",
    ),
    _raw(
        "takes-a-reply-that-nobody-promised",
        (("nova_take", (64, 100)),),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "takes-a-long-reply-beyond-its-memory",
        (("nova_call", (1024, 4, 2048, 0)), ("nova_take", (TOP - 2, 4))),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "takes-more-than-the-reply-has",
        (("nova_call", (1024, 4, 2048, 0)), ("nova_take", (2048, 4096))),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "takes-a-reply-twice",
        (
            ("nova_call", (1024, 4, 2048, 0)),
            ("nova_take", (2048, 4)),
            ("nova_take", (2048, 4)),
        ),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "sends-a-request-from-beyond-its-memory",
        (("nova_call", (TOP - 2, 4, 2048, 64)),),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "wants-the-reply-beyond-its-memory",
        (("nova_call", (1024, 4, TOP - 2, 4)),),
        (("nova_call", (1024, 4, TOP - 4, 4)),),
        status=Status.FAILED,
    ),
    _raw(
        "sends-a-request-of-two-gigabytes",
        (("nova_call", (0, 0x8000_0000, 2048, 64)),),
        (("nova_call", (1024, 4, 2048, 64)),),
        status=Status.FAILED,
    ),
    _raw(
        "reports-from-beyond-its-memory",
        (("nova_report", (TOP - 2, 16)),),
        (("sched_yield", ()),),
        status=Status.FAILED,
    ),
    _raw(
        "reports-what-is-not-json",
        (("nova_report", (1024, 6)),),
        (("sched_yield", ()),),
        status=Status.FAILED,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleAttack:
    """A whole module against the engine itself, and its harmless twin."""

    name: str
    text: str
    control: str
    """The twin must be accepted and finish."""
    statuses: frozenset[Status] = frozenset()
    """How the run may end; empty: the module is refused before it runs."""


def _module(body: str, *, extra: str = "", memory: str = "1 16") -> str:
    return f"""(module {extra}
      (memory (export "memory") {memory})
      (func (export "nova_alloc") (param i32) (result i32) (i32.const 1024))
      (func (export "nova_run") (param i32 i32) (result i32) (local $n i32)
        {body} (i32.const 0)))"""


HARMLESS = _module("")

MODULE_ATTACKS: tuple[ModuleAttack, ...] = (
    ModuleAttack(
        name="grows-its-memory-without-end",
        text=_module(
            """(loop $again (br_if $again
                 (i32.ne (memory.grow (i32.const 256)) (i32.const -1)))) (unreachable)""",
            memory="1",
        ),
        control=_module("(drop (memory.grow (i32.const 2)))"),
        statuses=frozenset({Status.FAILED}),
    ),
    ModuleAttack(
        name="starts-with-more-memory-than-its-limit",
        text=_module("", memory="60000"),
        control=HARMLESS,
        statuses=frozenset({Status.OUT_OF_MEMORY}),
    ),
    ModuleAttack(
        name="grows-a-table-without-end",
        text=_module(
            """(loop $again (br_if $again
                 (i32.ne (table.grow $t (ref.null func) (i32.const 100000)) (i32.const -1))))
               (if (i32.gt_u (table.size $t) (i32.const 1000000)) (then (loop (br 0))))
               (unreachable)""",
            extra="(table $t 1 funcref)",
        ),
        control=_module(
            "(drop (table.grow $t (ref.null func) (i32.const 2)))", extra="(table $t 1 funcref)"
        ),
        statuses=frozenset({Status.FAILED}),
    ),
    ModuleAttack(
        name="has-more-tables-than-allowed",
        text=_module("", extra="(table 1 funcref) (table 1 funcref) (table 1 funcref)"),
        control=_module("", extra="(table 1 funcref)"),
    ),
    ModuleAttack(
        name="recurses-without-end-in-raw-code",
        text=_module("(call $deep)", extra="(func $deep (call $deep) (call $deep))"),
        control=_module("(call $flat)", extra="(func $flat)"),
        statuses=frozenset({Status.LIMIT}),
    ),
    ModuleAttack(
        name="loops-without-end-in-raw-code",
        text=_module("(loop (br 0))"),
        control=HARMLESS,
        statuses=frozenset({Status.TIMED_OUT}),
    ),
    ModuleAttack(
        name="loops-in-its-start-function",
        text=_module("", extra="(start $s) (func $s (loop (br 0)))"),
        control=_module("", extra="(start $s) (func $s)"),
        statuses=frozenset({Status.TIMED_OUT}),
    ),
    ModuleAttack(
        name="loops-while-the-host-asks-for-room",
        text=HARMLESS.replace(
            "(result i32) (i32.const 1024)", "(result i32) (loop (br 0)) (i32.const 0)"
        ),
        control=HARMLESS,
        statuses=frozenset({Status.TIMED_OUT}),
    ),
    ModuleAttack(
        name="answers-a-request-for-room-with-a-wild-pointer",
        text=HARMLESS.replace("(i32.const 1024)", "(i32.const -4)"),
        control=HARMLESS,
        statuses=frozenset({Status.FAILED}),
    ),
    ModuleAttack(
        name="reads-beyond-its-memory-with-a-plain-load",
        text=_module("(drop (i32.load (i32.const 0x7ffffff0)))"),
        control=_module("(drop (i32.load (i32.const 0)))"),
        statuses=frozenset({Status.FAILED}),
    ),
    ModuleAttack(
        name="imports-a-function-that-does-not-exist",
        text=_module("", extra='(import "env" "system" (func (param i32) (result i32)))'),
        control=_module(
            "",
            extra='(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))',
        ),
    ),
    ModuleAttack(
        name="imports-a-function-with-another-signature",
        text=_module(
            "", extra='(import "wasi_snapshot_preview1" "fd_close" (func (param i64) (result i32)))'
        ),
        control=_module(
            "", extra='(import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32)))'
        ),
    ),
    ModuleAttack(
        name="shares-its-memory-between-threads",
        text=_module("", memory="1 16 shared"),
        control=HARMLESS,
    ),
    ModuleAttack(
        name="has-two-memories",
        text=_module("", extra="(memory $second 1)"),
        control=HARMLESS,
    ),
    ModuleAttack(
        name="exports-no-memory",
        text=HARMLESS.replace('(memory (export "memory")', "(memory"),
        control=HARMLESS,
    ),
)
