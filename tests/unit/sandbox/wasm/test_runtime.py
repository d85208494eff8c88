"""The runtime as ``execute`` uses it, with small guests in place of the interpreters."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nova_desktop.model import (
    MIB,
    Cancellation,
    InvalidRequest,
    Language,
    Limits,
    ProgressCallback,
    RuntimeUnavailable,
    Status,
    Stream,
)
from nova_desktop.sandbox.wasm import GuestOutcome, GuestProgram, MemoryBudget, WasmRuntime
from nova_desktop.sandbox.wasm.cache import CompiledCache
from nova_desktop.sandbox.wasm.guests import Guests
from nova_desktop.sandbox.wasm.isolate import CompiledGuest, Isolate
from tests.unit.sandbox.wasm import wat

ECHO_REQUEST = wat.module(
    """(i32.store (i32.const 0) (local.get $pointer)) (i32.store (i32.const 4) (local.get $length))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.const 0)"""
)
HELLO_THEN = """(i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 5))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"""
HELLO_DATA = '(data (i32.const 16) "hello")'
SPIN = wat.module(f"{HELLO_THEN} (loop (br 0)) (i32.const 0)", extra=HELLO_DATA)
FLOOD = wat.module(
    """(i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 65536))
    (loop (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br 0))
    (i32.const 0)"""
)

Start = Callable[..., WasmRuntime]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Makes runtimes whose Python guest is the given module."""
    opened: list[WasmRuntime] = []

    def make(guest: str, workers: int = 2) -> WasmRuntime:
        dist = tmp_path / str(len(opened))
        dist.mkdir()
        runtime = WasmRuntime(
            dist=wat.write_dist(dist, guest), cache=tmp_path / "compiled", workers=workers
        )
        opened.append(runtime)
        return runtime

    yield make
    for runtime in opened:
        runtime.close()


def run(
    runtime: WasmRuntime,
    program: GuestProgram | None = None,
    *,
    limits: Limits | None = None,
    stop: Cancellation | None = None,
    **callbacks: object,
) -> GuestOutcome:
    limits = limits or Limits()
    budget = MemoryBudget(limits.memory_bytes)
    return runtime.run(
        program or GuestProgram(language=Language.PYTHON, source=""),
        runtime.new_files(Language.PYTHON, budget),
        limits=limits,
        budget=budget,
        cancellation=stop or Cancellation(),
        **callbacks,  # type: ignore[arg-type]
    )


def test_guest_receives_the_request_of_the_agreed_form(start: Start) -> None:
    program = GuestProgram(
        language=Language.PYTHON,
        source="print('ä')",
        source_name="report.py",
        arguments=("-v",),
        stdin=b"",
    )
    outcome = run(start(ECHO_REQUEST), program)
    (size,) = struct.unpack_from("<I", outcome.stdout)
    header, rest = json.loads(outcome.stdout[4 : 4 + size]), outcome.stdout[4 + size :]
    assert header == {
        "name": "report.py",
        "entry": None,
        "argv": ["report.py", "-v"],
        "tz": "UTC",
        "source_bytes": len(rest),
        "tzif_bytes": 0,
        "stdin": True,
        "work_empty": True,
    }
    assert rest.decode() == "print('ä')"
    assert (outcome.status, outcome.exit_code, outcome.error) == (Status.FINISHED, 0, None)
    assert outcome.duration_ns > 0
    assert "wasm-isolate" in outcome.enforced


def test_program_of_the_workspace_is_named_as_seen_from_there(start: Start) -> None:
    program = GuestProgram(language=Language.PYTHON, entry="/work/pkg/main.py")
    outcome = run(start(ECHO_REQUEST), program)
    header = json.loads(outcome.stdout[4:])
    assert header["entry"] == "/work/pkg/main.py"
    assert header["argv"] == ["pkg/main.py"]
    assert header["stdin"] is False


def test_output_so_far_is_kept_when_the_time_is_over(start: Start) -> None:
    streamed: list[tuple[Stream, bytes]] = []
    outcome = run(
        start(SPIN),
        limits=Limits(timeout_s=0.2),
        on_output=lambda stream, data: streamed.append((stream, data)),
    )
    assert outcome.status is Status.TIMED_OUT
    assert outcome.error is not None
    assert (outcome.error.code, outcome.exit_code) == ("run.timed_out", None)
    assert "0.2 s" in outcome.error.message
    assert "--timeout" in outcome.error.remedy
    assert outcome.stdout == b"hello"
    assert streamed == [(Stream.STDOUT, b"hello")]
    assert outcome.duration_ns < 300_000_000


def test_stop_ends_the_run_with_its_own_status(start: Start) -> None:
    stop = Cancellation()
    threading.Timer(0.1, stop.request).start()
    outcome = run(start(SPIN), stop=stop)
    assert outcome.status is Status.STOPPED
    assert outcome.stdout == b"hello"


def test_run_that_was_stopped_before_it_came_does_not_begin(start: Start) -> None:
    stop = Cancellation()
    stop.request()
    outcome = run(start(SPIN), stop=stop)
    assert outcome.status is Status.STOPPED


def test_flood_of_output_ends_at_its_limit_with_head_and_tail(start: Start) -> None:
    limits = Limits(output_total_bytes=3 * MIB, output_bytes=MIB)
    outcome = run(start(FLOOD), limits=limits)
    assert outcome.status is Status.LIMIT
    assert outcome.error is not None
    assert outcome.error.code == "run.output_limit"
    assert len(outcome.stdout) == MIB
    assert outcome.dropped_stdout == 2 * MIB


def test_limit_too_small_for_the_interpreter_is_out_of_memory(start: Start) -> None:
    limits = Limits(memory_bytes=128 << 10)
    for memory in (4 << 10, 128 << 10):
        limits = Limits(memory_bytes=memory)
        outcome = run(start(wat.module("(i32.const 0)", pages=4)), limits=limits)
        assert outcome.status is Status.OUT_OF_MEMORY
        assert outcome.error is not None
        assert outcome.error.code == "run.out_of_memory"


def test_output_callback_that_fails_is_an_engine_error(start: Start) -> None:
    def broken(_stream: Stream, _data: bytes) -> None:
        raise BrokenPipeError

    outcome = run(start(SPIN), on_output=broken)
    assert outcome.status is Status.ENGINE_ERROR
    assert outcome.error is not None
    assert outcome.error.details["type"] == "BrokenPipeError"


def test_refused_operations_come_with_the_outcome(start: Start) -> None:
    call = "(call $call (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0))"
    outcome = run(start(wat.module(f"(drop {call}) (drop {call}) (i32.const 0)")))
    (denied,) = outcome.denied
    assert (denied.operation, denied.count) == ("nova.call", 2)


def test_unknown_time_zone_is_an_invalid_request(start: Start) -> None:
    program = GuestProgram(language=Language.PYTHON, source="", timezone="Mars/Olympus")
    with pytest.raises((InvalidRequest, RuntimeUnavailable)):
        run(start(SPIN), program)


def test_source_that_is_no_text_is_an_invalid_request(start: Start) -> None:
    with pytest.raises(InvalidRequest) as refused:
        run(start(SPIN), GuestProgram(language=Language.PYTHON, source="\ud800"))
    assert refused.value.code == "request.source_not_text"


def test_first_use_compiles_with_progress_and_later_starts_do_not(
    tmp_path: Path,
) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    wat.write_dist(dist, wat.module("(i32.const 0)"))
    told: list[list[str]] = [[], []]
    for into in told:
        runtime = WasmRuntime(dist=dist, cache=tmp_path / "compiled")
        runtime.prepare(Language.PYTHON, _names_into(into))
        runtime.prepare(Language.PYTHON, _names_into(into))
        assert run(runtime).status is Status.FINISHED
        assert runtime.cache_problem == ""
        runtime.close()
    what = "compiling the python guest (only once)"
    assert told == [[f"{what} 0/0", f"{what} 1/1"], []]


@pytest.mark.security
def test_cached_guest_that_was_changed_is_compiled_anew(tmp_path: Path) -> None:
    """A stranger's bytes with a right header of their own would run as machine code; ours
    with one byte changed must not."""
    dist = tmp_path / "dist"
    dist.mkdir()
    wat.write_dist(dist, wat.module("(i32.const 7)"))
    cache = tmp_path / "compiled"
    for change in ("none yet", "byte", "cut", "nothing"):
        for path in cache.glob("*"):
            content = bytearray(path.read_bytes())
            if change == "byte":
                content[len(content) // 2] ^= 1
            elif change == "cut":
                del content[1000:]
            path.write_bytes(content)
        runtime = WasmRuntime(dist=dist, cache=cache)
        told: list[str] = []
        runtime.prepare(Language.PYTHON, _names_into(told))
        assert run(runtime).exit_code == 7
        runtime.close()
        assert bool(told) is (change != "nothing")


def _names_into(told: list[str]) -> ProgressCallback:
    return lambda what, done, total: told.append(f"{what} {done}/{total}")


def test_cache_of_another_build_of_the_engine_is_compiled_anew(tmp_path: Path) -> None:
    """Rightly named and hashed, but not what this wasmtime makes of it."""
    dist = tmp_path / "dist"
    dist.mkdir()
    wat.write_dist(dist, wat.module("(i32.const 7)"))
    sha256 = Guests(dist).sha256(Language.PYTHON)
    CompiledCache(tmp_path / "compiled").write("python", sha256, b"\x7fELF of another engine")
    runtime = WasmRuntime(dist=dist, cache=tmp_path / "compiled")
    assert run(runtime).exit_code == 7
    runtime.close()


@pytest.mark.skipif(os.name != "posix", reason="only on POSIX: folder modes")
def test_unwritable_cache_is_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    dist = tmp_path / "dist"
    dist.mkdir()
    wat.write_dist(dist, wat.module("(i32.const 7)"))
    runtime = WasmRuntime(dist=dist, cache=tmp_path / "file" / "compiled")
    assert run(runtime).exit_code == 7
    assert "could not be kept" in runtime.cache_problem
    runtime.close()


def test_several_threads_may_ask_first(start: Start) -> None:
    runtime = start(wat.module("(i32.const 7)"))
    outcomes: list[GuestOutcome] = []
    wat.together(*[lambda: outcomes.append(run(runtime))] * 4)
    assert [outcome.exit_code for outcome in outcomes] == [7] * 4


def test_waiting_is_told_and_not_charged_to_the_runs_clock(start: Start) -> None:
    """Eight at once on two threads, two of them long: the others wait longer than their own
    limit of time, and finish all the same."""
    guest = wat.module(
        # The first byte of the source decides: 'L' spins until its time is over.
        """(if (i32.eq (i32.load8_u (i32.add (local.get $pointer)
                         (i32.sub (local.get $length) (i32.const 1)))) (i32.const 76))
          (then (loop (br 0)))) (i32.const 0)"""
    )
    runtime = start(guest)
    runtime.prepare(Language.PYTHON)
    outcomes: dict[str, GuestOutcome] = {}
    waiting: list[str] = []

    def one(name: str, source: str, timeout_s: float) -> None:
        outcomes[name] = run(
            runtime,
            GuestProgram(language=Language.PYTHON, source=source),
            limits=Limits(timeout_s=timeout_s),
            progress=lambda what, _done, _total: waiting.append(what),
        )

    long_runs = [threading.Thread(target=one, args=(f"long{n}", "L", 0.6)) for n in range(2)]
    for thread in long_runs:
        thread.start()
    time.sleep(0.1)
    wat.together(*[lambda n=n: one(f"short{n}", "s", 0.2) for n in range(6)])
    for thread in long_runs:
        thread.join()
    for number in range(6):
        outcome = outcomes[f"short{number}"]
        assert outcome.status is Status.FINISHED
        assert outcome.queued_ns > 200_000_000
        assert outcome.duration_ns < 200_000_000
    assert {outcomes[f"long{n}"].status for n in range(2)} == {Status.TIMED_OUT}
    assert len(waiting) == 6
    assert all("waiting for a free core" in what for what in waiting)


def test_closing_stops_what_runs_and_refuses_what_comes(start: Start) -> None:
    runtime = start(SPIN)
    runtime.prepare(Language.PYTHON)
    outcomes: list[GuestOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(run(runtime)))
    thread.start()
    time.sleep(0.2)
    stop = Cancellation()
    runtime.close()
    thread.join(5)
    assert outcomes[0].status is Status.STOPPED
    assert not stop.requested
    with pytest.raises(RuntimeUnavailable) as refused:
        run(runtime)
    assert refused.value.code == "runtime.closed"
    runtime.close()


def test_callback_can_neither_start_a_run_nor_close(start: Start) -> None:
    runtime = start(SPIN)

    def nested(_stream: Stream, _data: bytes) -> None:
        run(runtime)

    def closing(_stream: Stream, _data: bytes) -> None:
        runtime.close()

    for callback in (nested, closing):
        outcome = run(runtime, on_output=callback)
        assert outcome.status is Status.ENGINE_ERROR
        assert outcome.error is not None
        assert outcome.error.code == "engine.nested_run"


def test_closing_waits_for_a_compilation_in_progress(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Freeing an engine that compiles would be a use of freed memory."""
    runtime = start(SPIN)
    compiling = threading.Event()
    order: list[str] = []
    compile_ = Isolate.compile
    close = Isolate.close

    def slow_compile(isolate: Isolate, wasm: bytes) -> CompiledGuest:
        compiling.set()
        time.sleep(0.2)
        guest = compile_(isolate, wasm)
        order.append("compiled")
        return guest

    def noted_close(isolate: Isolate) -> None:
        order.append("closed")
        close(isolate)

    monkeypatch.setattr(Isolate, "compile", slow_compile)
    monkeypatch.setattr(Isolate, "close", noted_close)
    thread = threading.Thread(target=lambda: runtime.prepare(Language.PYTHON))
    thread.start()
    compiling.wait(5)
    runtime.close()
    thread.join(5)
    assert order == ["compiled", "closed"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only on Linux: RLIMIT_AS")
def test_too_little_address_space_is_a_clear_error(tmp_path: Path) -> None:
    wat.write_dist(tmp_path, wat.module("(i32.const 7)"))
    program = f"""
import resource
from pathlib import Path
from nova_desktop.model import Cancellation, Language, Limits, RuntimeUnavailable
from nova_desktop.sandbox.wasm import GuestProgram, MemoryBudget, WasmRuntime
runtime = WasmRuntime(dist=Path({str(tmp_path)!r}), cache=Path({str(tmp_path / "c")!r}),
                      workers=1)
budget = MemoryBudget(1 << 29)
def run():
    return runtime.run(GuestProgram(language=Language.PYTHON, source=""),
                       runtime.new_files(Language.PYTHON, budget), limits=Limits(), budget=budget,
                       cancellation=Cancellation())
assert run().exit_code == 7
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, resource.RLIM_INFINITY))
try:
    run()
except RuntimeUnavailable as error:
    print(error.code)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert run().exit_code == 7
runtime.close()
"""
    assert _in_new_process(program) == (0, b"runtime.cannot_start\n", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only on systems that fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # that is what is tested
def test_forked_child_is_refused_and_the_parent_goes_on(start: Start) -> None:
    runtime = start(wat.module("(i32.const 7)"))
    assert run(runtime).exit_code == 7
    child = os.fork()
    if child == 0:
        try:
            runtime.run(
                GuestProgram(language=Language.PYTHON, source=""),
                runtime.new_files(Language.PYTHON, MemoryBudget(MIB)),
                limits=Limits(),
                budget=MemoryBudget(MIB),
                cancellation=Cancellation(),
            )
        except RuntimeUnavailable as error:
            runtime.close()
            os._exit(42 if error.code == "runtime.forked" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    assert run(runtime).exit_code == 7


def test_process_that_forgets_to_close_ends_cleanly_during_a_run(tmp_path: Path) -> None:
    wat.write_dist(tmp_path, SPIN)
    program = f"""
import threading, time
from pathlib import Path
from nova_desktop.model import Cancellation, Language, Limits
from nova_desktop.sandbox.wasm import GuestProgram, MemoryBudget, WasmRuntime
runtime = WasmRuntime(dist=Path({str(tmp_path)!r}), cache=Path({str(tmp_path / "c")!r}),
                      workers=1)
def spin():
    budget = MemoryBudget(1 << 29)
    runtime.run(GuestProgram(language=Language.PYTHON, source=""),
                runtime.new_files(Language.PYTHON, budget), limits=Limits(), budget=budget,
                cancellation=Cancellation())
threading.Thread(target=spin, daemon=True).start()
time.sleep(0.5)
print("leaving")
"""
    started = time.monotonic()
    assert _in_new_process(program) == (0, b"leaving\n", b"")
    assert time.monotonic() - started < 10


def _in_new_process(program: str) -> tuple[int, bytes, bytes]:
    root = Path(__file__).parents[4]
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    return ended.returncode, ended.stdout, ended.stderr
