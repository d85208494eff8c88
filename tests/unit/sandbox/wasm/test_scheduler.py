from __future__ import annotations

import threading
import time

import pytest

from nova_desktop.model import MIB, Cancellation, NovaError, RuntimeUnavailable, Status
from nova_desktop.sandbox.wasm import scheduler as scheduler_module
from nova_desktop.sandbox.wasm.control import RunEnded
from nova_desktop.sandbox.wasm.isolate import WASM_STACK_BYTES
from nova_desktop.sandbox.wasm.scheduler import Scheduler, stack_bytes
from tests.unit.sandbox.wasm.wat import together


@pytest.fixture
def two() -> Scheduler:
    return Scheduler(2)


def test_result_and_exception_come_back_to_the_caller(two: Scheduler) -> None:
    assert two.execute(lambda queued_ns: 7, Cancellation()) == 7

    def fail(_queued_ns: int) -> None:
        raise ZeroDivisionError("x")

    with pytest.raises(ZeroDivisionError):
        two.execute(fail, Cancellation())


def test_work_runs_on_a_thread_with_a_stack_for_guests(two: Scheduler) -> None:
    size = two.execute(lambda queued_ns: stack_bytes(), Cancellation())
    assert size is not None
    assert size >= WASM_STACK_BYTES + 2 * MIB


def test_size_of_other_threads_stacks_is_left_alone(two: Scheduler) -> None:
    before = threading.stack_size()
    two.execute(lambda queued_ns: None, Cancellation())
    assert threading.stack_size() == before


@pytest.mark.security
@pytest.mark.parametrize("measured", [None, 1 * MIB, WASM_STACK_BYTES])
def test_thread_with_a_small_or_unknown_stack_enters_no_guest(
    measured: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "stack_bytes", lambda: measured)
    entered: list[int] = []
    with pytest.raises(RuntimeUnavailable) as refused:
        Scheduler(1).execute(lambda queued_ns: entered.append(1), Cancellation())
    assert refused.value.code == "runtime.stack_too_small"
    assert entered == []


def test_threads_are_reused_and_never_more_than_asked_for(two: Scheduler) -> None:
    idents: set[int] = set()

    def work(_queued_ns: int) -> None:
        idents.add(threading.get_ident())
        time.sleep(0.01)

    together(*[lambda: two.execute(work, Cancellation())] * 8)
    assert len(idents) == two.threads == 2


def test_result_is_handed_over_before_the_thread_tidies_up() -> None:
    tidying = threading.Event()
    go_on = threading.Event()
    finished: list[int] = []

    def tidy() -> None:
        tidying.set()
        go_on.wait(5)
        finished.append(threading.get_ident())

    one = Scheduler(1, after_each=tidy)
    thread = one.execute(lambda queued_ns: threading.get_ident(), Cancellation())
    assert tidying.wait(5)
    assert finished == []
    go_on.set()
    one.close()
    assert finished == [thread]


def test_short_runs_pass_while_one_thread_is_taken_by_a_long_one(two: Scheduler) -> None:
    """Eight at once on two threads, one of them long: nobody waits for the long one."""
    release = threading.Event()
    long_run = threading.Thread(
        target=lambda: two.execute(lambda queued_ns: release.wait(10), Cancellation())
    )
    long_run.start()
    done: list[int] = []
    order: list[int] = []
    waited: list[int] = []
    entered = threading.Semaphore(0)

    def short(number: int) -> None:
        def work(queued_ns: int) -> None:
            order.append(number)
            waited.append(queued_ns)
            time.sleep(0.02)

        two.execute(work, Cancellation(), on_queued=lambda ahead: entered.release())
        done.append(number)

    threads = [threading.Thread(target=short, args=(n,)) for n in range(7)]
    for number, thread in enumerate(threads):
        thread.start()
        if number:
            assert entered.acquire(timeout=5)  # so that they queue in this order
    for thread in threads:
        thread.join(5)
    assert sorted(done) == list(range(7))
    assert order == list(range(7))
    assert waited[0] < waited[-1]
    assert waited[-1] >= 60_000_000
    assert long_run.is_alive()
    release.set()
    long_run.join()


def test_queue_tells_how_many_are_ahead() -> None:
    one = Scheduler(1)
    release = threading.Event()
    ahead: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: one.execute(
                lambda queued_ns: release.wait(10), Cancellation(), ahead.append
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    assert ahead == [0, 1, 2]
    assert one.queued == 3
    release.set()
    for thread in threads:
        thread.join()
    assert one.queued == 0


def test_run_is_stopped_while_it_waits_in_the_queue() -> None:
    one = Scheduler(1)
    release = threading.Event()
    stop = Cancellation()
    begun: list[int] = []
    blocker = threading.Thread(
        target=lambda: one.execute(lambda queued_ns: release.wait(10), Cancellation())
    )
    blocker.start()
    time.sleep(0.02)
    threading.Timer(0.05, stop.request).start()
    with pytest.raises(RunEnded) as ended:
        one.execute(lambda queued_ns: begun.append(1), stop)
    assert ended.value.status is Status.STOPPED
    assert begun == []
    assert one.queued == 0
    release.set()
    blocker.join()


def test_interrupt_of_the_waiting_caller_stops_the_run_first(
    two: Scheduler,
) -> None:
    """Ctrl-C arrives in the caller's wait; ``on_queued`` stands in for the place here."""
    one = Scheduler(1)
    stop_first = Cancellation()
    blocker = threading.Thread(
        target=lambda: one.execute(lambda queued_ns: stop_first.wait(10), stop_first)
    )
    blocker.start()
    time.sleep(0.02)
    stop = Cancellation()

    def interrupted(_ahead: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.execute(lambda queued_ns: None, stop, interrupted)
    assert stop.requested
    assert one.queued == 0
    stop_first.request()
    blocker.join()


def test_run_inside_a_run_is_refused_instead_of_waiting_for_itself(two: Scheduler) -> None:
    def nested(_queued_ns: int) -> None:
        two.execute(lambda queued_ns: None, Cancellation())

    with pytest.raises(NovaError) as refused:
        two.execute(nested, Cancellation())
    assert refused.value.code == "engine.nested_run"


def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "_IDLE_S", 0.05)
    brief = Scheduler(2)
    brief.execute(lambda queued_ns: None, Cancellation())
    assert brief.threads == 1
    for _ in range(100):
        if not brief.threads:
            break
        time.sleep(0.01)
    assert brief.threads == 0
    assert brief.execute(lambda queued_ns: 7, Cancellation()) == 7


def test_close_refuses_what_waits_and_ends_the_threads() -> None:
    one = Scheduler(1)
    stop = Cancellation()
    failures: list[BaseException] = []
    running = threading.Thread(
        target=lambda: one.execute(lambda queued_ns: stop.wait(10), Cancellation())
    )
    running.start()
    time.sleep(0.02)

    def waiting() -> None:
        try:
            one.execute(lambda queued_ns: None, Cancellation())
        except RuntimeUnavailable as error:
            failures.append(error)

    queued = threading.Thread(target=waiting)
    queued.start()
    time.sleep(0.02)
    threading.Timer(0.05, stop.request).start()
    one.close()
    running.join()
    queued.join()
    assert one.threads == 0
    assert [error.code for error in failures if isinstance(error, NovaError)] == ["runtime.closed"]
    with pytest.raises(RuntimeUnavailable):
        one.execute(lambda queued_ns: None, Cancellation())


def test_no_thread_to_be_had_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeUnavailable) as refused:
        Scheduler(1).execute(lambda queued_ns: None, Cancellation())
    assert refused.value.code == "runtime.no_thread"
