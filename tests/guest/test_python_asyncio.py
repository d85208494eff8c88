"""asyncio on a loop of timers: everything but sockets, threads, signals and processes."""

from __future__ import annotations

from tests.guest.conftest import Programs


def test_gather_timeouts_groups_and_queues(python: Programs) -> None:
    ran = python(
        """
        import asyncio, time

        async def later(i):
            await asyncio.sleep(0.02)
            return i

        async def main():
            started = time.monotonic()
            print(await asyncio.gather(*map(later, range(5))), time.monotonic() - started < 1)
            try:
                async with asyncio.timeout(0.02):
                    await asyncio.sleep(60)
            except TimeoutError:
                print('timeout')
            try:
                await asyncio.wait_for(asyncio.sleep(60), 0.02)
            except TimeoutError:
                print('wait_for')
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(later(i)) for i in (1, 2)]
            print([task.result() for task in tasks])
            queue, got = asyncio.Queue(maxsize=1), []
            async def produce():
                for i in range(3): await queue.put(i)
            async def consume():
                for _ in range(3): got.append(await queue.get())
            await asyncio.gather(produce(), consume())
            print(got)
            event = asyncio.Event()
            asyncio.get_running_loop().call_later(0.01, event.set)
            await event.wait()
            print([await task for task in asyncio.as_completed([later(1)])])

        asyncio.run(main())
        """,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "[0, 1, 2, 3, 4] True",
        "timeout",
        "wait_for",
        "[1, 2]",
        "[0, 1, 2]",
        "[1]",
    ]


def test_functions_for_other_threads_run_on_the_spot(python: Programs) -> None:
    ran = python(
        """
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            print(await asyncio.to_thread(lambda x: x * 2, 21))
            print(await loop.run_in_executor(None, sum, [1, 2]))
            for failing in (lambda: 1 / 0, lambda: next(iter(()))):
                try:
                    await asyncio.to_thread(failing)
                except Exception as error:
                    print(type(error).__name__)
        asyncio.run(main())
        """,
        check=True,
    )
    assert ran.stdout == "42\n3\nZeroDivisionError\nRuntimeError\n"


def test_pending_tasks_and_generators_are_finished(python: Programs) -> None:
    ran = python(
        """
        import asyncio
        async def background():
            try:
                await asyncio.sleep(60)
            finally:
                print('cancelled')
        async def generate():
            try:
                yield 1
            finally:
                print('closed')
        async def main():
            asyncio.create_task(background())
            async for _ in generate():
                break
            await asyncio.sleep(0)
        asyncio.run(main())
        """,
        check=True,
    )
    assert sorted(ran.stdout.split()) == ["cancelled", "closed"]


def test_waiting_for_what_can_never_happen_is_an_error_at_once(python: Programs) -> None:
    ran = python(
        "import asyncio\nasync def main(): await asyncio.Event().wait()\nasyncio.run(main())",
        timeout_s=20,
    )
    assert ran.report is not None
    assert ran.report.type == "RuntimeError"
    assert "would wait for ever" in ran.report.message
    assert ran.seconds < 10


def test_loops_made_by_hand_are_the_same_loop(python: Programs) -> None:
    ran = python(
        """
        import asyncio
        for make in (asyncio.new_event_loop, asyncio.SelectorEventLoop, asyncio.EventLoop):
            loop = make()
            print(loop.run_until_complete(asyncio.sleep(0, 5)), end=' ')
            loop.close()
        with asyncio.Runner() as runner:
            print(runner.run(asyncio.sleep(0, 6)))
        """,
        check=True,
    )
    assert ran.stdout == "5 5 5 6\n"


def test_failures_in_tasks_show_the_programs_lines(python: Programs) -> None:
    ran = python(
        """
        import asyncio
        async def fail():
            raise ValueError('in task')
        async def main():
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
        asyncio.run(main())
        """
    )
    assert ran.exit_code == 1
    assert "    raise ValueError('in task')\n" in ran.stderr
    assert "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)" in ran.stderr


def test_exit_from_inside_a_coroutine(python: Programs) -> None:
    ran = python("import asyncio, sys\nasync def m(): sys.exit(4)\nasyncio.run(m())")
    assert (ran.exit_code, ran.stderr) == (4, "")


def test_a_coroutine_never_awaited_is_told(python: Programs) -> None:
    ran = python("async def f(): pass\nf()\n", check=True)
    assert "RuntimeWarning: coroutine 'f' was never awaited" in ran.stderr
