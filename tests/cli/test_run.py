"""``nova run``: what is asked of the engine, and how its answer is shown and counted."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from pathlib import Path

import pytest

from nova_desktop.model import (
    MIB,
    Denied,
    ErrorInfo,
    ExecutionRequest,
    ExecutionResult,
    Language,
    Limits,
    NovaError,
    PathNote,
    Refused,
    RuntimeName,
    RuntimeUnavailable,
    Status,
    Stream,
)
from tests.cli.conftest import Nova
from tests.cli.fake_engine import CREATED, HOOK, FakeEngine, FakeRun, finished


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    path = folder / "report.py"
    path.write_text("print(1)\n")
    return path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "main.py").write_text("print(2)\n")
    return folder


def last_request(engine: FakeEngine) -> ExecutionRequest:
    (request,) = engine.requests
    return request


# What is asked of the engine


def test_a_file_is_run_as_source_under_the_name_that_was_typed(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    assert nova("run", str(program)).code == 0
    assert last_request(engine) == ExecutionRequest(
        language=Language.PYTHON, source="print(1)\n", source_name=str(program)
    )


def test_a_programs_own_folder_is_never_staged(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    (program.parent / "secret.txt").write_text("x")
    nova("run", str(program))
    assert last_request(engine).workspace is None
    assert not last_request(engine).files


def test_a_file_inside_work_is_an_entry(engine: FakeEngine, nova: Nova, work: Path) -> None:
    nova("run", str(work / "pkg" / "main.py"), "--work", str(work))
    request = last_request(engine)
    assert (request.entry, request.source) == ("pkg/main.py", None)
    assert request.workspace is not None
    assert request.workspace.path == work


def test_a_file_inside_work_is_found_through_a_link_to_the_folder(
    engine: FakeEngine, nova: Nova, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(work)
    nova("run", str(tmp_path / "link" / "pkg" / "main.py"), "--work", str(work))
    assert last_request(engine).entry == "pkg/main.py"


def test_work_may_be_the_program_itself(engine: FakeEngine, nova: Nova, program: Path) -> None:
    nova("run", str(program), "--work", str(program))
    assert last_request(engine).entry == "report.py"


def test_options_reach_the_request(engine: FakeEngine, nova: Nova, program: Path) -> None:
    nova(
        *("run", str(program), "-l", "javascript", "--timeout", "2.5", "--memory", "64M"),
        *("--env", "A=1", "--env", "B=x=y", "--timezone", "Europe/Berlin", "--runtime", "wasm"),
        *("--", "-v", "--json", "file name"),
    )
    request = last_request(engine)
    assert request.language is Language.JAVASCRIPT
    assert request.limits == dataclasses.replace(Limits(), timeout_s=2.5, memory_bytes=64 * MIB)
    assert request.environment == {"A": "1", "B": "x=y"}
    assert request.timezone == "Europe/Berlin"
    assert request.runtime is RuntimeName.WASM
    assert request.arguments == ("-v", "--json", "file name")


def test_only_a_typed_runtime_counts_as_the_owners_key(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    nova("run", str(program), "--runtime", "local")
    assert engine.callbacks["owner_typed_runtime"] is True
    nova("run", str(program))
    assert engine.callbacks["owner_typed_runtime"] is False


def test_the_program_can_come_from_stdin(engine: FakeEngine, nova: Nova) -> None:
    for arguments in (["-"], []):
        engine.requests.clear()
        nova("run", *arguments, "-l", "python", stdin=b"\xef\xbb\xbfprint('\xc3\xa9')")
        request = last_request(engine)
        assert (request.source, request.source_name) == ("print('é')", "<stdin>")
        assert request.stdin is None


def test_what_is_piped_in_becomes_the_programs_stdin(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    nova("run", str(program), stdin=b"\x00\xff data")
    assert last_request(engine).stdin == b"\x00\xff data"


def test_an_empty_stdin_counts_as_none_so_that_input_explains_itself(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    nova("run", str(program), stdin=b"")
    assert last_request(engine).stdin is None


def test_no_stdin_leaves_it_alone(engine: FakeEngine, nova: Nova, program: Path) -> None:
    nova("run", str(program), "--no-stdin", stdin=b"data")
    assert last_request(engine).stdin is None


def test_a_pipe_that_nobody_closes_is_explained(
    engine: FakeEngine,
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from nova_desktop.cli import piped_input

    monkeypatch.setattr(piped_input, "NOTICE_AFTER_S", 0.05)
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin, os.fdopen(writer, "wb") as other_end:
        monkeypatch.setattr("sys.stdin", stdin)
        seen: list[str] = []

        def look_then_close() -> None:
            for _ in range(200):
                seen.append(capfd.readouterr().err)
                if "--no-stdin" in seen[-1]:
                    break
                time.sleep(0.02)
            other_end.close()

        watcher = threading.Thread(target=look_then_close)
        watcher.start()
        assert piped_input.read_piped_input(100) is None
        watcher.join()
    assert "waiting for standard input to end" in "".join(seen)


# What may be written


def test_ask_without_a_terminal_writes_nothing_and_says_how(
    engine: FakeEngine, nova: Nova, program: Path, work: Path
) -> None:
    engine.behaviour = lambda run: finished(files=(CREATED,))
    ended = nova("run", str(program), "--work", str(work))
    assert engine.callbacks["approve"] is None
    assert "nothing was written" in ended.stderr
    assert "--write yes" in ended.stderr
    assert ended.code == 0


def test_write_yes_writes(engine: FakeEngine, nova: Nova, program: Path, work: Path) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        assert run.ask(CREATED, HOOK, needs_naming=[HOOK.path]) is True
        return finished(files=(CREATED,), written=("out.txt",))

    engine.behaviour = behaviour
    ended = nova("run", str(program), "--work", str(work), "--write", "yes")
    assert "written: 1 of 1" in ended.stderr
    assert ended.code == 0


def test_a_wanted_change_that_was_withheld_is_no_success(
    engine: FakeEngine, nova: Nova, program: Path, work: Path
) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        run.ask(CREATED)
        note = PathNote("out.txt", "it changed meanwhile", "apply.conflict")
        return finished(files=(CREATED,), withheld=(note,))

    engine.behaviour = behaviour
    ended = nova("run", str(program), "--work", str(work), "--write", "yes")
    assert "│ out.txt: it changed meanwhile" in ended.stderr
    assert ended.code == 3


def test_write_no_plans_nothing(engine: FakeEngine, nova: Nova, program: Path, work: Path) -> None:
    nova("run", str(program), "--work", str(work), "--write", "no")
    workspace = last_request(engine).workspace
    assert workspace is not None
    assert workspace.read_only
    assert engine.callbacks["approve"] is None


# Output


def test_output_goes_byte_for_byte_into_a_pipe(
    engine: FakeEngine, program: Path, nova: Nova
) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        run.write("●😊\x1b[2J\n".encode())
        run.write(b"warning\n", Stream.STDERR)
        return finished()

    engine.behaviour = behaviour
    ended = nova("run", str(program))
    assert ended.stdout == "●😊\x1b[2J\n"
    assert ended.stderr == "warning\n"


def test_a_run_that_simply_went_well_adds_no_word(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    ended = nova("run", str(program))
    assert (ended.stdout, ended.stderr, ended.code) == ("", "", 0)


def test_the_report_shows_changes_refusals_and_what_was_left_out(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    engine.behaviour = lambda run: finished(
        files=(CREATED, HOOK),
        denied=(Denied("sock_open", "127.0.0.1\n:9", "wasi.sockets", count=3),),
        left_out=(PathNote("device", "not a regular file", "staging.special"),),
    )
    lines = nova("run", str(program)).stderr.splitlines()
    assert lines[0] == "nova: finished, 12 ms, runtime wasm"
    assert "changes in /work: 2 created" in lines
    assert "│ created         5 B  out.txt" in lines
    assert "│ sock_open 127.0.0.1\\n:9 (3 times): there is no network here" in lines
    assert "│ device: not a regular file" in lines
    assert any("other programs run or obey this" in line for line in lines)


def test_an_unconfined_run_says_so_even_when_it_went_well(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    engine.behaviour = lambda run: finished(sandboxed=False, runtime="local")
    assert "NOT SANDBOXED" in nova("run", str(program)).stderr


def test_ten_thousand_changes_are_shown_in_part(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    changes = tuple(dataclasses.replace(CREATED, path=f"{n}.txt") for n in range(10_000))
    engine.behaviour = lambda run: finished(files=changes)
    text = nova("run", str(program)).stderr
    assert "10000 created" in text
    assert "and 9961 more" in text
    assert len(text.splitlines()) < 60


def test_every_rule_of_the_sandbox_has_words() -> None:
    from nova_desktop.cli.summary import RULES_IN_WORDS
    from nova_desktop.sandbox.wasm import denied, hostcalls

    rules = {
        value
        for module in (denied, hostcalls)
        for name, value in vars(module).items()
        if name.startswith("RULE_")
    }
    assert rules
    assert rules == set(RULES_IN_WORDS)


# A missing neighbour


@pytest.mark.parametrize(
    ("details", "neighbour"),
    [
        ({"module": "helper"}, "helper.py"),
        ({"module": "helper.deep"}, "helper/deep.py"),
        ({"path": "data.csv"}, "data.csv"),
        ({"path": "/work/data.csv"}, "data.csv"),
    ],
)
def test_a_file_beside_the_program_that_was_not_staged_is_named(
    engine: FakeEngine, nova: Nova, program: Path, details: dict[str, str], neighbour: str
) -> None:
    path = program.parent / neighbour
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    error = ErrorInfo("guest.exception", "ModuleNotFoundError", details=details)
    engine.behaviour = lambda run: finished(status=Status.FAILED, exit_code=1, error=error)
    name = neighbour.split("/")[0]
    hint = f"{name} lies beside your program but was not staged: add --work {program.parent}"
    assert f"hint: {hint}" in nova("run", str(program)).stderr
    assert nova("run", str(program), "--json").document["error"]["hint"] == hint


@pytest.mark.parametrize(
    "details",
    [
        {"module": "numpy"},
        {"path": "../report.py"},
        {"path": "/etc/passwd"},
        {"path": "a" * 5000},
        {"module": "b" * 300},
        {"path": "a\0b"},
        {"path": "report.py/x"},
        {},
    ],
)
def test_what_does_not_lie_beside_the_program_gets_no_such_hint(
    engine: FakeEngine, nova: Nova, program: Path, details: dict[str, str]
) -> None:
    error = ErrorInfo("guest.exception", "ModuleNotFoundError", details=details)
    engine.behaviour = lambda run: finished(status=Status.FAILED, exit_code=1, error=error)
    assert "beside" not in nova("run", str(program)).stderr


# JSON


def test_json_is_one_document_and_nothing_else(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        run.write(b"never streamed")
        return finished(stdout="x", files=(CREATED,))

    engine.behaviour = behaviour
    ended = nova("run", str(program), "--json")
    assert ended.document == finished(stdout="x", files=(CREATED,)).to_json()
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["run", "missing.py", "--json"], "program.not_found", 2),
        (["run", "--json", "--nonsense"], "request.usage", 2),
        (["run", "x.rb", "--json"], "program.not_found", 2),
        (["run", "-", "--json"], "request.language_not_named", 2),
        (["run", "x.py", "-l", "ruby", "--json"], "request.unknown_language", 2),
        (["run", "-", "-l", "python", "--runtime", "vm", "--json"], "request.unknown_runtime", 2),
        (["run", "-", "-l", "python", "--memory", "0", "--json"], "request.bad_limit", 2),
        (["run", "-", "-l", "python", "--memory", "lots", "--json"], "request.bad_size", 2),
        (["run", "-", "-l", "python", "--env", "A", "--json"], "request.bad_environment", 2),
        (["run", "-", "-l", "python", "--write", "yes", "--json"], "request.write_without_work", 2),
        (["run", "-", "-l", "python", "--write", "perhaps", "--json"], "request.usage", 2),
    ],
)
def test_errors_are_json_too(
    engine: FakeEngine, nova: Nova, arguments: list[str], code: str, exit_code: int
) -> None:
    ended = nova(*arguments)
    assert ended.document["error"]["code"] == code
    assert ended.document["error"]["remedy"]
    assert ended.code == exit_code
    assert not engine.requests


def test_json_in_the_programs_own_arguments_is_not_ours(engine: FakeEngine, nova: Nova) -> None:
    ended = nova("run", "missing.py", "--", "--json")
    assert ended.stdout == ""
    assert "program.not_found" in ended.stderr


# Exit codes


@pytest.mark.parametrize(
    ("status", "guest_code", "expected"),
    [
        (Status.FINISHED, 0, 0),
        (Status.FAILED, 1, 1),
        (Status.FAILED, 3, 1),
        (Status.FAILED, 124, 1),
        (Status.FAILED, 137, 1),
        (Status.DENIED, None, 3),
        (Status.TIMED_OUT, None, 5),
        (Status.OUT_OF_MEMORY, 1, 5),
        (Status.LIMIT, None, 5),
        (Status.STOPPED, None, 130),
        (Status.ENGINE_ERROR, None, 70),
    ],
)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_each_ending_has_its_exit_code_whatever_the_programs_own(
    engine: FakeEngine,
    nova: Nova,
    program: Path,
    status: Status,
    guest_code: int | None,
    expected: int,
    as_json: list[str],
) -> None:
    engine.behaviour = lambda run: finished(status=status, exit_code=guest_code)
    assert nova("run", str(program), *as_json).code == expected


def test_a_program_that_ended_well_without_its_changes_is_no_success(
    engine: FakeEngine, nova: Nova, program: Path
) -> None:
    error = ErrorInfo("apply.too_many", "Too many names.", "Make fewer.")
    engine.behaviour = lambda run: finished(error=error)
    ended = nova("run", str(program))
    assert ended.code == 3
    assert "Too many names." in ended.stderr
    engine.behaviour = lambda run: finished(error=ErrorInfo("run.stopped", "Stopped."))
    assert nova("run", str(program)).code == 130


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Refused("policy.no", "No.", "Ask."), 3),
        (RuntimeUnavailable("runtime.missing", "Not here.", "Install it."), 4),
        (NovaError("engine.broken", "Broken."), 70),
    ],
)
def test_each_kind_of_error_has_its_exit_code_and_one_form(
    engine: FakeEngine, nova: Nova, program: Path, error: NovaError, expected: int
) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        raise error

    engine.behaviour = behaviour
    ended = nova("run", str(program))
    assert ended.code == expected
    assert ended.stderr.startswith(f"error: {error.message} {error.code}\n")
    assert nova("run", str(program), "--json").document == {"error": error.info().to_json()}


def test_our_own_fault_is_one_paragraph_without_a_traceback(
    engine: FakeEngine, nova: Nova, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def behaviour(run: FakeRun) -> ExecutionResult:
        raise ZeroDivisionError("oops \x1b[2J")

    engine.behaviour = behaviour
    ended = nova("run", str(program))
    assert ended.code == 70
    assert "internal.bug" in ended.stderr
    assert "Traceback" not in ended.stderr
    monkeypatch.setenv("NOVA_DEBUG", "1")
    ended = nova("run", str(program))
    assert "Traceback" in ended.stderr
    assert "\x1b" not in ended.stderr  # what a guest or a file name put into the message


# Bad programs


def test_a_bad_program_file_is_a_clear_error(
    engine: FakeEngine, nova: Nova, tmp_path: Path
) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "latin.py").write_bytes(b"print('\xe9')")
    (tmp_path / "folder.py").mkdir()
    for name, code in [
        ("binary.py", "program.binary"),
        ("latin.py", "program.not_utf8"),
        ("folder.py", "program.is_a_folder"),
        ("nul\0.py", "program.not_found"),
    ]:
        ended = nova("run", str(tmp_path / name))
        assert code in ended.stderr
        assert "what to do: " in ended.stderr
        assert ended.code == 2


def test_an_invalid_program_on_stdin_is_a_clear_error(engine: FakeEngine, nova: Nova) -> None:
    ended = nova("run", "-", "-l", "python", stdin=b"\xff")
    assert "program.not_utf8" in ended.stderr
    assert ended.code == 2
