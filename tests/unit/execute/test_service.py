"""The journey of a run, with a guest that is a function of the test."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from nova_desktop.execute import ChangePlan, ExecutionService
from nova_desktop.execute.service import OWNER_LIMITS
from nova_desktop.model import (
    Cancellation,
    Denied,
    ErrorInfo,
    ExecutionRequest,
    ExecutionResult,
    InvalidRequest,
    Language,
    Limits,
    NovaError,
    RuntimeName,
    Status,
    Stream,
    Workspace,
)
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestReport
from tests.fakes.runtime import FunctionRuntime, Guest

Approve = Callable[[ChangePlan], bool | Collection[str]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"old")
    return folder


def _nothing(copy: Path) -> None:
    pass


def _change(copy: Path) -> None:
    (copy / "a.txt").write_bytes(b"new")
    (copy / "report.csv").write_bytes(b"1,2")
    (copy / ".envrc").write_bytes(b"export A=1")


def _yes(plan: ChangePlan) -> bool:
    return True


def _run(
    guest: Guest = _nothing,
    *,
    runtime: FunctionRuntime | None = None,
    environment: dict[str, str] | None = None,
    call: dict[str, Any] | None = None,
    **request: Any,
) -> ExecutionResult:
    used = runtime or FunctionRuntime(guest)
    asked: list[RuntimeName] = []

    def by_name(name: RuntimeName) -> FunctionRuntime:
        asked.append(name)
        return used

    service = ExecutionService(runtime=by_name, environment=environment or {}, own_folders=())
    fields: dict[str, Any] = {"language": Language.PYTHON, "source": "pass", **request}
    return service.execute(ExecutionRequest(**fields), **(call or {}))


def _outcome(status: Status = Status.FINISHED, **facts: Any) -> GuestOutcome:
    return GuestOutcome(**{"status": status, "exit_code": 0, "stdout": b"", "stderr": b"", **facts})


def test_a_run_without_files(work: Path) -> None:
    result = _run(lambda copy: _outcome(stdout=b"hi\n"))
    assert (result.status, result.exit_code, result.stdout) == (Status.FINISHED, 0, "hi\n")
    assert result.files == ()
    assert result.runtime == "wasm"
    assert result.sandboxed


def test_nothing_is_written_without_being_asked_for(work: Path) -> None:
    result = _run(_change, workspace=Workspace(path=work))
    assert [change.path for change in result.files] == [".envrc", "a.txt", "report.csv"]
    assert result.written == ()
    assert (work / "a.txt").read_bytes() == b"old"


def test_stopped_between_the_programs_end_and_the_question_is_told(work: Path) -> None:
    """Not to be taken for a run that had nothing to write."""
    cancellation = Cancellation()

    def on_progress(what: str, _done: int, _total: int) -> None:
        if what.startswith("Comparing"):
            cancellation.request()

    call = {"approve": _yes, "cancellation": cancellation, "on_progress": on_progress}
    result = _run(_change, workspace=Workspace(path=work), call=call)
    assert (result.status, result.written) == (Status.FINISHED, ())
    assert result.error is not None
    assert result.error.code == "run.stopped"


def test_what_the_owner_approves_is_written(work: Path) -> None:
    seen: list[ChangePlan] = []

    def approve(plan: ChangePlan) -> bool:
        seen.append(plan)
        assert plan.read("report.csv") == b"1,2"
        return True

    result = _run(_change, workspace=Workspace(path=work), call={"approve": approve})
    assert len(seen) == 1
    assert result.written == ("a.txt", "report.csv")
    assert {note.path: note.code for note in result.withheld} == {".envrc": "apply.runs_outside"}
    assert (work / "a.txt").read_bytes() == b"new"
    assert not (work / ".envrc").exists()


@pytest.mark.parametrize("answer", [False, (), []])
def test_no_means_no(work: Path, answer: bool | Collection[str]) -> None:
    result = _run(_change, workspace=Workspace(path=work), call={"approve": lambda plan: answer})
    assert result.written == ()
    assert (work / "a.txt").read_bytes() == b"old"


def test_some_paths_can_be_chosen(work: Path) -> None:
    result = _run(
        _change, workspace=Workspace(path=work), call={"approve": lambda plan: [".envrc"]}
    )
    assert result.written == (".envrc",)


def test_a_read_only_workspace_plans_no_change(work: Path) -> None:
    result = _run(_change, workspace=Workspace(path=work, read_only=True), call={"approve": _yes})
    assert (result.files, result.written) == ((), ())
    assert (work / "a.txt").read_bytes() == b"old"


def test_the_owner_is_not_asked_about_nothing(work: Path) -> None:
    def never(plan: ChangePlan) -> bool:
        raise AssertionError("asked")

    assert _run(workspace=Workspace(path=work), call={"approve": never}).files == ()


def test_files_given_as_values_come_back_as_values() -> None:
    result = _run(_change, files={"a.txt": b"old", "b": b"same"}, call={"approve": _yes})
    assert result.contents == {".envrc": b"export A=1", "a.txt": b"new", "report.csv": b"1,2"}
    assert result.written == ()
    assert "contents" not in result.to_json()


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.FINISHED])
def test_whatever_the_status_output_and_files_so_far_are_kept(work: Path, status: Status) -> None:
    def guest(copy: Path) -> GuestOutcome:
        _change(copy)
        return _outcome(status, exit_code=None, stdout=b"partial", stderr=b"so far")

    result = _run(guest, workspace=Workspace(path=work), call={"approve": _yes})
    assert (result.status, result.stdout) == (status, "partial")
    assert result.stderr.startswith("so far")
    assert len(result.files) == 3
    assert result.written == ("a.txt", "report.csv")


@pytest.mark.parametrize("stopped_during_the_run", [True, False])
def test_comparing_many_files_can_be_stopped(work: Path, stopped_during_the_run: bool) -> None:
    """The control is a run that was stopped before: what it wrote is compared to the end."""
    cancellation = Cancellation()

    def guest(copy: Path) -> GuestOutcome | None:
        _change(copy)
        if not stopped_during_the_run:
            return None
        cancellation.request()
        return _outcome(Status.STOPPED, exit_code=None)

    def on_progress(what: str, _done: int, _total: int) -> None:
        if what.startswith("Comparing"):
            cancellation.request()

    call = {"cancellation": cancellation, "on_progress": on_progress}
    result = _run(guest, workspace=Workspace(path=work), call=call)
    assert len(result.files) == (3 if stopped_during_the_run else 0)
    if not stopped_during_the_run:
        assert result.error is not None
        assert result.error.code == "run.stopped"


def test_a_run_that_its_owner_stopped_is_not_written(work: Path) -> None:
    cancellation = Cancellation()

    def guest(copy: Path) -> GuestOutcome:
        _change(copy)
        cancellation.request()
        return _outcome(Status.STOPPED, exit_code=None)

    call = {"approve": _yes, "cancellation": cancellation}
    result = _run(guest, workspace=Workspace(path=work), call=call)
    assert len(result.files) == 3
    assert result.written == ()


def test_stopping_while_files_are_read_is_a_result(work: Path) -> None:
    cancellation = Cancellation()
    cancellation.request()
    runtime = FunctionRuntime(_nothing)
    result = _run(
        runtime=runtime, workspace=Workspace(path=work), call={"cancellation": cancellation}
    )
    assert result.status is Status.STOPPED
    assert result.error is not None
    assert result.error.code == "run.stopped"
    assert runtime.programs == []


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("missing.py", "request.entry_not_found"),
        ("sub", "request.entry_is_a_folder"),
        ("link.py", "request.entry_not_found"),
    ],
)
def test_an_entry_that_cannot_be_run(work: Path, entry: str, code: str) -> None:
    (work / "sub").mkdir()
    (work / "link.py").symlink_to("a.txt")
    with pytest.raises(InvalidRequest) as caught:
        _run(source=None, entry=entry, workspace=Workspace(path=work))
    assert caught.value.code == code
    if entry == "link.py":
        assert "it is a link" in caught.value.message


def test_the_guest_gets_exactly_what_was_asked_for(work: Path) -> None:
    runtime = FunctionRuntime(_nothing)
    _run(
        runtime=runtime,
        source=None,
        entry="a.txt",
        workspace=Workspace(path=work),
        arguments=("-v",),
        stdin=b"in",
        environment={},
        timezone="Europe/Berlin",
    )
    (program,) = runtime.programs
    assert program.entry == "/work/a.txt"
    assert program.arguments == ("-v",)
    assert program.stdin == b"in"
    assert program.environment == {
        "HOME": "/work",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "Europe/Berlin",
    }


def test_a_limit_can_only_narrow_the_owners() -> None:
    runtime = FunctionRuntime(_nothing)
    _run(runtime=runtime, limits=Limits(timeout_s=1e9, memory_bytes=1 << 50, output_bytes=10))
    (limits,) = runtime.limits
    assert limits.timeout_s == OWNER_LIMITS.timeout_s
    assert limits.memory_bytes == OWNER_LIMITS.memory_bytes
    assert limits.output_bytes == 10


def test_a_hint_is_printed_after_the_traceback_and_set_in_the_error() -> None:
    report = GuestReport("ModuleNotFoundError", "No module named 'numpy'", "numpy", "")
    streamed: list[tuple[Stream, bytes]] = []
    result = _run(
        lambda copy: _outcome(
            Status.FAILED, exit_code=1, stderr=b"Traceback: no newline", report=report
        ),
        call={"on_output": lambda stream, data: streamed.append((stream, data))},
    )
    assert result.error is not None
    assert "numpy" in result.error.hint
    assert result.stderr == f"Traceback: no newline\nnova: {result.error.hint}\n"
    assert streamed == [(Stream.STDERR, f"\nnova: {result.error.hint}\n".encode())]


def test_dropped_output_is_counted_and_the_way_out_is_named() -> None:
    result = _run(lambda copy: _outcome(stdout=b"head tail", dropped_stdout=200_000))
    assert result.truncated == {"stdout": 200_000, "stderr": 0}
    assert "file in /work" in result.stderr


@pytest.mark.security
def test_a_hostile_guest_cannot_make_the_result_invalid() -> None:
    def guest(copy: Path) -> GuestOutcome:
        with open(str(copy).encode() + b"/\xff.txt", "wb"):
            pass
        return _outcome(
            Status.FAILED,
            exit_code=1,
            stdout=b"\xff\xfe",
            stderr="\ud800".encode("utf-8", "surrogatepass"),
            report=GuestReport("\ud800", "\udcff", "\ud800", "\udcff"),
            denied=(Denied("path_open\ud800", "/\udcff", "rule"),),
            error=ErrorInfo("guest.trapped", "\ud800"),
        )

    text = json.dumps(_run(guest).to_json(), ensure_ascii=False)
    text.encode()  # valid UTF-8
    assert "\\\\xff.txt" in text
    assert "\ufffd" in text


def test_a_bad_request_is_an_error_before_any_runtime_is_built() -> None:
    def never(name: RuntimeName) -> FunctionRuntime:
        raise AssertionError("built")

    service = ExecutionService(runtime=never, environment={}, own_folders=())
    with pytest.raises(NovaError):
        service.execute(ExecutionRequest(language=Language.PYTHON))
    with pytest.raises(NovaError):
        service.execute(
            ExecutionRequest(language=Language.PYTHON, source="", runtime=RuntimeName.DOCKER)
        )


@pytest.mark.security
def test_a_misspelt_setting_stops_every_run() -> None:
    with pytest.raises(InvalidRequest):
        _run(environment={"NOVA_SANDBOX_RUNTIME": "wasn"})


@pytest.mark.security
def test_the_unconfined_runtime_says_that_it_is_not_sandboxed() -> None:
    both = {"NOVA_SANDBOX_ALLOW_LOCAL": "1", "NOVA_SANDBOX_RUNTIME": "local"}
    result = _run(environment=both)
    assert (result.runtime, result.sandboxed, result.enforced) == ("local", False, ())


def test_the_result_of_a_full_disk_is_an_error_with_a_remedy(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from nova_desktop.hostfs.posix import Directory

    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Directory, "write_temporary", no_room)
    result = _run(_change, workspace=Workspace(path=work), call={"approve": _yes})
    assert result.status is Status.FINISHED
    assert result.error is not None
    assert result.error.code == "apply.no_room"
    assert result.error.remedy
    assert (result.written, (work / "a.txt").read_bytes()) == ((), b"old")


def test_one_service_serves_runs_at_the_same_time(work: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def guest(copy: Path) -> None:
        assert (copy / "mine").exists() is False
        (copy / "mine").write_bytes(b"")

    service = ExecutionService(
        runtime=lambda name: FunctionRuntime(guest), environment={}, own_folders=()
    )
    request = ExecutionRequest(language=Language.PYTHON, source="", workspace=Workspace(path=work))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(service.execute, [request] * 16))
    assert all(len(result.files) == 1 for result in results)


def test_the_request_is_not_changed(work: Path) -> None:
    request = ExecutionRequest(language=Language.PYTHON, source="", limits=Limits(timeout_s=1e9))
    before = dataclasses.replace(request)
    service = ExecutionService(
        runtime=lambda name: FunctionRuntime(_nothing), environment={}, own_folders=()
    )
    service.execute(request)
    assert request == before
