"""The local runtime: no sandbox, but the same contract of files, output, time and endings."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from nova_desktop.model import (
    MIB,
    Cancellation,
    InvalidRequest,
    Language,
    Limits,
    OutputCallback,
    RuntimeUnavailable,
    Status,
    Stream,
)
from nova_desktop.sandbox.unconfined import LocalFiles, LocalRuntime
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from nova_desktop.sandbox.wasm.program import GuestOutcome, GuestProgram
from tests.ordinary_user import run_as_ordinary_user

if os.name != "posix":
    pytest.skip("only on POSIX: the local runtime needs process groups", allow_module_level=True)

PATH = os.environ.get("PATH", os.defpath)
LIMITS = Limits(timeout_s=20)


def _run(
    source: str,
    *,
    language: Language = Language.PYTHON,
    files: LocalFiles | None = None,
    limits: Limits = LIMITS,
    cancellation: Cancellation | None = None,
    on_output: OutputCallback | None = None,
    **program: object,
) -> GuestOutcome:
    runtime = LocalRuntime(PATH)
    budget = MemoryBudget(64 * MIB)
    with files or LocalFiles() as used:
        return runtime.run(
            GuestProgram(language=language, source=source, **program),  # type: ignore[arg-type]
            used,
            limits=limits,
            budget=budget,
            cancellation=cancellation or Cancellation(),
            on_output=on_output,
        )


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_python_runs_and_nothing_is_claimed_to_be_enforced() -> None:
    outcome = _run("import sys; print('hi', sys.argv[1:])", arguments=("-v", "x y"))
    assert (outcome.status, outcome.exit_code) == (Status.FINISHED, 0)
    assert outcome.stdout == b"hi ['-v', 'x y']\n"
    assert outcome.enforced == ()


def test_bash_runs() -> None:
    outcome = _run("echo $(( 6 * 7 )); exit 3", language=Language.BASH)
    assert (outcome.status, outcome.exit_code, outcome.stdout) == (Status.FAILED, 3, b"42\n")


def test_javascript_runs() -> None:
    if shutil.which("node") is None:
        with pytest.raises(RuntimeUnavailable) as caught:
            _run("console.log(1)", language=Language.JAVASCRIPT)
        assert caught.value.code == "runtime.interpreter_missing"
        assert "node" in caught.value.remedy
        return
    assert _run("console.log(6 * 7)", language=Language.JAVASCRIPT).stdout == b"42\n"


def test_a_missing_interpreter_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailable) as caught:
        LocalRuntime(str(tmp_path)).prepare(Language.PYTHON)
    assert caught.value.code == "runtime.interpreter_missing"
    assert caught.value.remedy


def test_an_unknown_time_zone_is_an_error_and_not_utc() -> None:
    assert (
        b"+0530"
        in _run(
            "import time; print(time.strftime('%z'))",
            timezone="Asia/Kolkata",
            environment={"TZ": "Asia/Kolkata"},
        ).stdout
    )
    with pytest.raises(InvalidRequest) as caught:
        _run("pass", timezone="Mars/Olympus")
    assert caught.value.code == "request.unknown_timezone"


def test_standard_input_is_given_or_empty() -> None:
    assert _run("print(input())", stdin=b"hello\n").stdout == b"hello\n"
    outcome = _run("input()")
    assert outcome.exit_code == 1
    assert b"EOFError" in outcome.stderr


@pytest.mark.security
def test_our_environment_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVA_TEST_SECRET", "secret")
    outcome = _run("import os; print(dict(os.environ))", environment={"MODE": "x"})
    assert b"secret" not in outcome.stdout
    assert b"'MODE': 'x'" in outcome.stdout
    seen_here = os.environ["NOVA_TEST_SECRET"]  # control: a child would inherit it
    assert seen_here == "secret"


def test_files_are_a_copy_in_the_current_directory() -> None:
    with LocalFiles() as files:
        files.stage_directory("sub", mode=0o500, mtime_ns=5)
        files.stage_file("sub/a.txt", b"1", mode=0o640, mtime_ns=123)
        (before,) = [entry for entry in files.walk() if not entry.is_directory]
        assert (before.path, before.mode, before.mtime_ns) == ("sub/a.txt", 0o640, 123)
        assert before.staged_as == "sub/a.txt"
        runtime = LocalRuntime(PATH)
        runtime.run(
            GuestProgram(
                language=Language.PYTHON,
                source="open('new', 'w').write(open('sub/a.txt').read() * 2)\n"
                "import os; os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe')",
            ),
            files,
            limits=Limits(),
            budget=MemoryBudget(64 * MIB),
            cancellation=Cancellation(),
        )
        after = {entry.path: entry for entry in files.walk()}
        assert set(after) == {"new", "sub", "sub/a.txt"}  # no link, no pipe
        assert b"".join(after["new"].chunks()) == b"11"
        assert after["new"].staged_as is None
        root = files.root
    assert not root.exists()


def test_an_entry_of_the_workspace_runs() -> None:
    with LocalFiles() as files:
        files.stage_directory("pkg")
        files.stage_file("pkg/main.py", b"import helper; print(helper.x)")
        files.stage_file("pkg/helper.py", b"x = 5")
        outcome = LocalRuntime(PATH).run(
            GuestProgram(language=Language.PYTHON, entry="/work/pkg/main.py"),
            files,
            limits=Limits(),
            budget=MemoryBudget(64 * MIB),
            cancellation=Cancellation(),
        )
    assert outcome.stdout == b"5\n"


def test_output_is_streamed_and_its_head_and_tail_are_kept() -> None:
    streamed: list[bytes] = []
    outcome = _run(
        "print('head'); print('x' * 200_000); print('tail')",
        limits=Limits(timeout_s=20, output_bytes=1000),
        on_output=lambda stream, data: streamed.append(data),
    )
    assert outcome.stdout.startswith(b"head\n")
    assert outcome.stdout.endswith(b"x\ntail\n")
    assert len(outcome.stdout) + outcome.dropped_stdout == len(b"".join(streamed)) == 200_011


@pytest.mark.security
def test_a_flood_of_output_ends_the_run() -> None:
    limits = Limits(timeout_s=20, output_bytes=1000, output_total_bytes=1 * MIB)
    outcome = _run("while True: print('x' * 1000)", limits=limits)
    assert outcome.status is Status.LIMIT
    assert outcome.error is not None
    assert outcome.error.code == "run.output_limit"


@pytest.mark.security
def test_the_deadline_ends_the_whole_group_and_keeps_the_output() -> None:
    source = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child: print('partial', child, flush=True)\n"
        "time.sleep(60)\n"
    )
    began = time.monotonic()
    outcome = _run(source, limits=Limits(timeout_s=0.7))
    assert time.monotonic() - began < 5
    assert (outcome.status, outcome.exit_code) == (Status.TIMED_OUT, None)
    assert outcome.error is not None
    assert outcome.error.remedy
    word, child = outcome.stdout.split()
    assert word == b"partial"
    assert _gone(int(child))


@pytest.mark.security
def test_a_child_left_behind_is_ended_with_its_program() -> None:
    source = (
        "import os, time\n"
        "child = os.fork()\n"
        "if child == 0: time.sleep(60)\n"
        "print(child, flush=True)\n"
    )
    began = time.monotonic()
    outcome = _run(source)
    assert outcome.status is Status.FINISHED
    assert time.monotonic() - began < 10
    assert _gone(int(outcome.stdout))


def test_stopping_ends_the_run_at_once() -> None:
    cancellation = Cancellation()
    started = threading.Event()

    def on_output(stream: Stream, data: bytes) -> None:
        started.set()

    def stop() -> None:
        assert started.wait(10)
        cancellation.request()

    stopper = threading.Thread(target=stop)
    stopper.start()
    began = time.monotonic()
    outcome = _run(
        "import time; print('on', flush=True); time.sleep(60)",
        cancellation=cancellation,
        on_output=on_output,
    )
    stopper.join()
    assert outcome.status is Status.STOPPED
    assert outcome.stdout == b"on\n"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("code", [124, 137])
def test_an_exit_code_that_looks_like_a_limit_is_the_programs_own(code: int) -> None:
    outcome = _run(f"raise SystemExit({code})")
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, code)


def test_a_program_ended_by_a_signal_has_no_exit_code() -> None:
    outcome = _run("import os; os.abort()")
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, None)
    assert outcome.error is not None
    assert outcome.error.code == "guest.signal"
    assert signal.Signals.SIGABRT.name in outcome.error.message


def test_runs_leave_no_descriptors_behind() -> None:
    _run("pass")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        _run("pass")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_its_program_closed_is_removed_all_the_same(tmp_path: Path) -> None:
    code = """
def left_behind(prepared):
    files = LocalFiles()
    inner = files.root / "closed" / "inner"
    inner.mkdir(parents=True)
    (inner / "copy.txt").write_text("the owner's")
    os.symlink("/", files.root / "closed" / "link")
    inner.chmod(0)
    inner.parent.chmod(0)
    if prepared:
        files.__exit__(None, None, None)
    else:
        shutil.rmtree(files.root.parent, ignore_errors=True)
    return files.root.parent.exists()
print(left_behind(False), left_behind(True))
"""
    imports = "import os, shutil\nfrom nova_desktop.sandbox.unconfined import LocalFiles\n"
    # First the control: without permissions given back, the copy stays.
    assert run_as_ordinary_user(tmp_path, imports, code) == "True False\n"
