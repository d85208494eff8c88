"""The host-call layer: what a module made by hand can and cannot do through it."""

from __future__ import annotations

import threading
import time
from ctypes import addressof, create_string_buffer

import pytest

from nova_desktop.model import Cancellation, Status
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.control import GuestExit
from nova_desktop.sandbox.wasm.hostcalls import MAX_FRAME_BYTES, GuestFault, GuestMemory
from nova_desktop.sandbox.wasm.program import GuestReport
from tests.unit.sandbox.wasm import wat

PAGE = 65536
SIZE = 2 * PAGE

pytestmark = pytest.mark.security


def call(request: int, length: int, reply: int, capacity: int) -> str:
    return (
        f"(call $call {' '.join(f'(i32.const {n})' for n in (request, length, reply, capacity))})"
    )


def take(reply: int, length: int) -> str:
    return f"(call $take (i32.const {reply}) (i32.const {length}))"


class FakeLibrary:
    """A guest memory that the test can grow, with a canary on both sides of it."""

    MARGIN = 64

    def __init__(self, size: int) -> None:
        self.size = size
        self.block = create_string_buffer(b"\xaa" * (size * 4 + 2 * self.MARGIN))
        self.looked = 0

    def wasmtime_memory_data_size(self, _context: int, _memory: object) -> int:
        return self.size

    def wasmtime_memory_data(self, _context: int, _memory: object) -> int:
        self.looked += 1
        return addressof(self.block) + self.MARGIN

    def outside(self) -> bytes:
        return self.block.raw[: self.MARGIN] + self.block.raw[self.MARGIN + self.size :]


@pytest.fixture
def fake() -> FakeLibrary:
    return FakeLibrary(SIZE)


@pytest.fixture
def memory(fake: FakeLibrary) -> GuestMemory:
    return GuestMemory(fake, 0, object())  # type: ignore[arg-type]


BAD_RANGES = [
    (SIZE, 1),
    (SIZE - 1, 2),
    (SIZE + 1, 0),
    (0, SIZE + 1),
    (0xFFFF_FFFF, 1),
    (0xFFFF_FFFC, 8),  # would wrap to 4 in 32 bits
    (0xFFFF_FFFF, 0xFFFF_FFFF),
    (0x8000_0000, 4),  # negative when signed
    (8, 0xFFFF_FFFC),  # a negative length when signed
    (-4, 4),
    (4, -4),
]


@pytest.mark.parametrize(("pointer", "length"), BAD_RANGES)
def test_range_outside_memory_is_a_fault_in_both_directions(
    memory: GuestMemory, fake: FakeLibrary, pointer: int, length: int
) -> None:
    before = fake.block.raw
    with pytest.raises(GuestFault):
        memory.read(pointer, length)
    if 0 <= length < 1 << 20:
        with pytest.raises(GuestFault):
            memory.write(pointer, b"\xee" * length)
    assert fake.block.raw == before


@pytest.mark.parametrize("pointer", [SIZE - 3, SIZE, 0xFFFF_FFFF, 0xFFFF_FFFD, 0x8000_0000, -1])
def test_integer_outside_memory_is_a_fault(memory: GuestMemory, pointer: int) -> None:
    with pytest.raises(GuestFault):
        memory.read_u32(pointer)
    with pytest.raises(GuestFault):
        memory.write_u32(pointer, 1)
    with pytest.raises(GuestFault):
        memory.write_u64(pointer, 1)


def test_last_bytes_of_memory_can_be_used(memory: GuestMemory, fake: FakeLibrary) -> None:
    memory.write(SIZE - 4, b"last")
    assert memory.read(SIZE - 4, 4) == b"last"
    memory.write_u64(SIZE - 8, 2**64 - 1)
    assert memory.read_u32(SIZE - 4) == 2**32 - 1
    assert memory.read(SIZE, 0) == b""
    assert set(fake.outside()) <= {0xAA, 0}


def test_grown_memory_is_seen_and_its_base_is_taken_anew(
    memory: GuestMemory, fake: FakeLibrary
) -> None:
    looked = fake.looked
    with pytest.raises(GuestFault):
        memory.write(SIZE, b"x")
    fake.size = 2 * SIZE
    memory.write(2 * SIZE - 1, b"x")
    assert memory.read(2 * SIZE - 1, 1) == b"x"
    assert fake.looked > looked


def test_memory_of_an_ended_run_has_no_bytes(memory: GuestMemory) -> None:
    memory.close()
    for access in (lambda: memory.read(0, 1), lambda: memory.write(0, b"x")):
        with pytest.raises(GuestFault):
            access()


@pytest.mark.parametrize("pointer", [-4, -1, SIZE - 4, SIZE, 0x7FFF_FFFF])
def test_wasi_answers_fault_to_a_bad_pointer(pointer: int) -> None:
    fd_write = f"(call $fd_write (i32.const 1) (i32.const {pointer}) (i32.const 1) (i32.const 0))"
    assert wat.run(wat.module(fd_write)).code == 21


def test_wasi_answers_success_to_a_good_pointer() -> None:
    ran = wat.run(
        wat.module(
            """(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 5))
            (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))""",
            extra='(data (i32.const 16) "hello")',
        )
    )
    assert (ran.code, b"".join(data for _, data in ran.output)) == (0, b"hello")


@pytest.mark.parametrize(
    "arguments",
    [
        (-4, 8, 0, 0),
        (SIZE - 7, 8, 0, 0),
        (0, 8, -4, 8),
        (0, 8, SIZE, 1),
        (0, 0, 0, -1),
        (-1, 0, 0, 0),
    ],
)
def test_bad_pointer_in_a_brokered_call_ends_the_run_before_the_broker_sees_it(
    arguments: tuple[int, int, int, int],
) -> None:
    seen: list[bytes] = []

    def broker(request: bytes) -> bytes:
        seen.append(request)
        return request

    ran = wat.run(wat.module(call(*arguments)), host_call=broker)
    assert ran.ended.code == "guest.bad_pointer"
    assert seen == []


def test_memory_grown_between_two_calls_can_be_used_at_once() -> None:
    body = f"""
      (drop {call(0, 4, 0, 4)})
      (drop (memory.grow (i32.const 3)))
      (i32.store (i32.const {5 * PAGE - 4}) (i32.const 0x21646c6f))
      (drop {call(5 * PAGE - 4, 4, 4 * PAGE, 4)})
      (i32.load (i32.const {4 * PAGE}))"""
    ran = wat.run(wat.module(body), host_call=lambda request: request)
    assert ran.code == 0x21646C6F


def test_long_reply_is_taken_once_with_exactly_its_length() -> None:
    body = f"(drop {call(0, 4, 0, 10)}) {take(PAGE, 1000)} (i32.load8_u (i32.const {PAGE + 999}))"
    ran = wat.run(wat.module(body), host_call=lambda request: b"x" * 1000)
    assert ran.code == ord("x")
    assert ran.budget.charged == ran.charged_before


@pytest.mark.parametrize(
    "body",
    [
        take(0, 0),
        take(0, 1000),
        f"(drop {call(0, 4, 0, 10)}) {take(0, 999)}",
        f"(drop {call(0, 4, 0, 10)}) {take(0, 1001)}",
        f"(drop {call(0, 4, 0, 10)}) {take(0, -1)}",
        f"(drop {call(0, 4, 0, 10)}) {take(0, 1000)} {take(0, 1000)}",
        f"(drop {call(0, 4, 0, 2000)}) {take(0, 1000)}",
    ],
    ids=["none", "none, right length", "shorter", "longer", "-1", "twice", "already copied"],
)
def test_taking_what_is_not_pending_ends_the_run(body: str) -> None:
    ran = wat.run(wat.module(f"{body} (i32.const 0)"), host_call=lambda request: b"x" * 1000)
    assert ran.ended.code == "guest.protocol"
    assert ran.budget.charged == ran.charged_before


@pytest.mark.parametrize("pointer", [SIZE - 999, -1, -1000])
def test_long_reply_cannot_be_put_outside_memory(pointer: int) -> None:
    body = f"(drop {call(0, 4, 0, 10)}) {take(pointer, 1000)} (i32.const 0)"
    ran = wat.run(wat.module(body), host_call=lambda request: b"x" * 1000)
    assert ran.ended.code == "guest.bad_pointer"


def test_next_call_drops_the_reply_that_was_not_taken() -> None:
    body = f"""{wat.repeat(100, f"(drop {call(0, 4, 0, 10)})")} {take(0, 1000)} (i32.const 7)"""
    ran = wat.run(wat.module(body), host_call=lambda request: b"x" * 1000)
    assert ran.code == 7
    assert ran.budget.charged == ran.charged_before


def test_pending_reply_is_charged_to_the_budget_until_it_is_taken() -> None:
    charged: list[int] = []
    budget = MemoryBudget(1 << 20)
    write_nothing = "(drop (call $fd_write " + "(i32.const 1) (i32.const 0) " * 2 + "))"
    body = f"""(i32.store (i32.const 4) (i32.const 1))
      {write_nothing} (drop {call(0, 4, 0, 10)}) {write_nothing} {take(128, 5000)} {write_nothing}
      (i32.const 0)"""
    ran = wat.run(
        wat.module(body),
        host_call=lambda request: b"\0" * 5000,
        budget=budget,
        on_output=lambda stream, data: charged.append(budget.charged),
    )
    assert ran.code == 0
    assert [c - ran.charged_before for c in charged] == [0, 5000, 0]


def test_reply_that_the_budget_cannot_hold_ends_the_run() -> None:
    ran = wat.run(
        wat.module(f"(drop {call(0, 4, 0, 10)}) (i32.const 0)"),
        host_call=lambda request: b"x" * 2_000_000,
        memory_bytes=1 << 20,
    )
    assert ran.ended.status is Status.OUT_OF_MEMORY


def test_request_longer_than_a_frame_ends_the_run() -> None:
    text = wat.module(call(0, MAX_FRAME_BYTES + 1, 0, 0), pages=80)
    ran = wat.run(text, host_call=lambda request: b"")
    assert ran.ended.code == "guest.protocol"
    allowed = wat.module(call(0, MAX_FRAME_BYTES, 0, 0), pages=80)
    assert wat.run(allowed, host_call=lambda request: b"").code == 0


def test_call_without_a_broker_is_refused_and_recorded() -> None:
    ran = wat.run(wat.module(call(0, 4, 0, 10)))
    assert ran.code == 0
    (denied,) = ran.denied.entries()
    assert (denied.operation, denied.rule) == ("nova.call", "nova.no_capabilities")


@pytest.mark.parametrize(
    "fault",
    [ZeroDivisionError("x"), KeyboardInterrupt(), SystemExit(3), MemoryError(), GuestExit(5)],
)
def test_exception_in_a_host_function_ends_the_run_and_is_kept(fault: BaseException) -> None:
    def broker(_request: bytes) -> bytes:
        raise fault

    ran = wat.run(
        wat.module(f"(drop {call(0, 4, 0, 10)}) (loop (br 0)) (i32.const 0)"), host_call=broker
    )
    assert ran.error is fault
    assert wat.run(wat.module("(i32.const 7)")).code == 7


def test_broker_that_answers_no_bytes_is_our_fault_not_the_guests() -> None:
    ran = wat.run(wat.module(call(0, 4, 0, 10)), host_call=lambda request: None)  # type: ignore[arg-type, return-value]
    assert isinstance(ran.error, TypeError)


def report(text: bytes) -> wat.Ran:
    escaped = "".join(f"\\{byte:02x}" for byte in text)
    body = f"(call $report (i32.const 4096) (i32.const {len(text)})) (i32.const 1)"
    return wat.run(wat.module(body, extra=f'(data (i32.const 4096) "{escaped}")'))


def test_report_is_parsed_and_only_strings_are_taken() -> None:
    ran = report(b'{"type": "KeyError", "message": 7, "path": ["x"], "more": 1}')
    assert ran.code == 1
    assert ran.nova.report_received == GuestReport(type="KeyError")


def test_lone_surrogates_of_a_report_are_replaced() -> None:
    ran = report(rb'{"type": "E\ud800", "message": "\u00e4"}')
    assert ran.nova.report_received == GuestReport(type="E?", message="ä")


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xfe", b"[" * 60_000, b'"x"', b"{", b'{"type": NaN'], ids=repr
)
def test_report_that_is_no_json_object_ends_the_run(text: bytes) -> None:
    assert report(text).ended.code == "guest.protocol"


def test_report_longer_than_64_kib_ends_the_run() -> None:
    ran = wat.run(wat.module("(call $report (i32.const 0) (i32.const 65537)) (i32.const 1)"))
    assert ran.ended.code == "guest.protocol"


def test_host_call_before_the_memory_is_known_ends_the_run() -> None:
    start = "(func $early (drop " + call(0, 4, 0, 0) + ")) (start $early)"
    ran = wat.run(wat.module("(i32.const 0)", start=start), host_call=lambda request: b"")
    assert ran.ended.code == "guest.protocol"


ECHO_OWN_BYTE = wat.module(
    # Fills 8 KiB with its own byte, sends them and checks every byte that comes back, in the
    # short way and in the long one, until the host stops it. 1: a foreign byte was seen.
    """(local.set $k (i32.load8_u (local.get $pointer)))
    (memory.fill (i32.const 8192) (local.get $k) (i32.const 8192))
    (loop $forever
      (memory.fill (i32.const 32768) (i32.const 0) (i32.const 8192))
      (drop (call $call (i32.const 8192) (i32.const 8192) (i32.const 32768) (i32.const 8192)))
      (if (call $differs (i32.const 32768) (local.get $k)) (then (return (i32.const 1))))
      (memory.fill (i32.const 32768) (i32.const 0) (i32.const 8192))
      (drop (call $call (i32.const 8192) (i32.const 8192) (i32.const 32768) (i32.const 64)))
      (call $take (i32.const 32768) (i32.const 8192))
      (if (call $differs (i32.const 32768) (local.get $k)) (then (return (i32.const 1))))
      (br $forever))
    (i32.const 2)""",
    extra="""(func $differs (param $at i32) (param $byte i32) (result i32) (local $n i32)
      (loop $next
        (if (i32.ne (i32.load8_u (i32.add (local.get $at) (local.get $n))) (local.get $byte))
          (then (return (i32.const 1))))
        (br_if $next (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1)))
                               (i32.const 8192))))
      (i32.const 0))""",
)


def echo_side_by_side(seconds: float, foreign: bytes | None = None) -> list[wat.Ran]:
    """Eight guests at once; ``foreign`` is slipped into one reply in a hundred (control)."""
    rounds = [0] * 8
    results: list[wat.Ran | None] = [None] * 8

    def guest(number: int) -> None:
        def broker(request: bytes) -> bytes:
            rounds[number] += 1
            assert request == bytes([65 + number]) * 8192
            if foreign and rounds[number] % 100 == 0:
                return request[:-1] + foreign
            return request

        results[number] = wat.run(
            ECHO_OWN_BYTE, request=bytes([65 + number]), host_call=broker, timeout_s=seconds
        )

    wat.together(*(lambda n=n: guest(n) for n in range(8)))
    ended = [ran for ran in results if ran is not None]
    assert len(ended) == 8
    assert min(rounds) > 50, [ran.error for ran in ended]
    return ended


def test_guests_side_by_side_see_no_foreign_byte() -> None:
    for ran in echo_side_by_side(1.0):
        assert ran.ended.status is Status.TIMED_OUT


def test_control_a_foreign_byte_would_be_seen() -> None:
    assert [ran.code for ran in echo_side_by_side(5.0, foreign=b"!")] == [1] * 8


@pytest.mark.slow
def test_guests_side_by_side_see_no_foreign_byte_for_ten_seconds() -> None:
    for ran in echo_side_by_side(10.0):
        assert ran.ended.status is Status.TIMED_OUT


def test_deadline_inside_a_host_call_is_met() -> None:
    ran = wat.run(wat.module(f"{wat.SLEEP_10_S} (i32.const 0)"), timeout_s=0.3)
    assert ran.ended.status is Status.TIMED_OUT
    assert ran.seconds < 0.4


@pytest.mark.parametrize("body", [wat.SLEEP_10_S, "(loop (br 0))"], ids=["in sleep", "in a loop"])
def test_stop_from_another_thread_ends_the_run_within_100_ms(body: str) -> None:
    stop = Cancellation()
    requested: list[float] = []

    def press() -> None:
        requested.append(time.monotonic())
        stop.request()

    timer = threading.Timer(0.2, press)
    timer.start()
    ran = wat.run(wat.module(f"{body} (i32.const 0)"), stop=stop)
    late = time.monotonic() - requested[0]
    assert ran.ended.status is Status.STOPPED
    assert late < 0.1


def test_deadline_in_a_busy_loop_is_met_within_100_ms() -> None:
    ran = wat.run(wat.module("(loop (br 0)) (i32.const 0)"), timeout_s=0.3)
    assert ran.ended.code == "run.timed_out"
    assert 0.29 < ran.seconds < 0.4


def test_run_without_a_deadline_is_checked_all_the_same() -> None:
    stop = Cancellation()
    threading.Timer(0.1, stop.request).start()
    ran = wat.run(wat.module("(loop (br 0)) (i32.const 0)"), timeout_s=float("inf"), stop=stop)
    assert ran.ended.status is Status.STOPPED


def test_broker_that_works_past_the_deadline_ends_the_run_when_it_returns() -> None:
    def broker(_request: bytes) -> bytes:
        time.sleep(0.2)
        return b""

    ran = wat.run(wat.module(call(0, 4, 0, 0)), host_call=broker, timeout_s=0.1)
    assert ran.ended.status is Status.TIMED_OUT


def test_exit_through_wasi_carries_its_code() -> None:
    ran = wat.run(wat.module("(call $proc_exit (i32.const 124)) (i32.const 0)"))
    assert isinstance(ran.error, GuestExit)
    assert ran.error.code == 124


def test_random_bytes_differ_between_runs_of_one_thread() -> None:
    body = "(drop (call $random_get (i32.const 0) (i32.const 4))) (i32.load (i32.const 0))"
    assert len({wat.run(wat.module(body)).code for _ in range(4)}) > 1
