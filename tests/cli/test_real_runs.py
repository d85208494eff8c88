"""The command line over the real engine: what a person sees of real programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from nova_desktop import Engine, ExecutionRequest
from nova_desktop.model import Language, Limits
from tests.cli.conftest import Nova

ROOT = Path(__file__).parents[2]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "nova_desktop", *arguments]


def run_apart(
    *arguments: str, environment: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[bytes]:
    """A whole process, as a shell starts it."""
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "utf-8"])
def test_any_output_encoding_gets_the_programs_own_bytes(tmp_path: Path, encoding: str) -> None:
    program = tmp_path / "bullets.py"
    program.write_text("print('●😊')\nopen('/work/●😊.txt', 'w').close()\n", encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    ended = run_apart(
        *("run", str(program), "--work", str(work), "--write", "yes"),
        environment={"PYTHONIOENCODING": encoding},
    )
    assert ended.stdout == "●😊\n".encode()
    assert b"written: 1 of 1" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert ended.returncode == 0
    assert (work / "●😊.txt").exists()


@pytest.mark.skipif(os.name != "posix", reason="only on POSIX: a shell that closes streams")
def test_closed_streams_do_not_stop_a_run(tmp_path: Path) -> None:
    program = tmp_path / "talk.py"
    program.write_text("print('hi')\nopen('/work/done', 'w').close()\n")
    work = tmp_path / "work"
    work.mkdir()
    words = command("run", str(program), "--work", str(work), "--write", "yes")
    shell = ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *words]
    assert subprocess.run(shell, cwd=ROOT, timeout=60, check=False).returncode == 0
    assert (work / "done").exists()


@pytest.mark.security
@pytest.mark.skipif(os.name != "posix", reason="only on POSIX: a pipe can be asked for room")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_reader_that_does_not_read_holds_up_neither_the_deadline_nor_ctrl_c(
    tmp_path: Path, interrupted: bool
) -> None:
    program = tmp_path / "talk.py"
    program.write_text("print('begun', flush=True)\nwhile True:\n    print('line' * 1000)\n")
    words = command("run", str(program), "--timeout", "60" if interrupted else "2")
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"begun"
            if interrupted:
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
            assert process.wait(20) == (130 if interrupted else 5)
        finally:
            process.kill()


def test_a_reader_that_goes_away_ends_the_run_quietly(tmp_path: Path) -> None:
    program = tmp_path / "talk.py"
    program.write_text("while True:\n    print('line')\n")
    process = subprocess.Popen(
        command("run", str(program), "--timeout", "50"),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"line\n"
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 130
    assert b"Traceback" not in errors
    assert b"Exception ignored" not in errors


def test_ctrl_c_ends_a_program_that_never_ends(tmp_path: Path) -> None:
    pytest.importorskip("pty", reason="only on systems with pseudo-terminals")
    from tests.cli.pseudo_terminal import Terminal

    program = tmp_path / "endless.py"
    program.write_text("print('started', flush=True)\nwhile True:\n    pass\n")
    terminal = Terminal("nova_desktop", "run", str(program), "--timeout", "60")
    try:
        terminal.read_until("started", seconds=60)
        pressed = time.monotonic()
        terminal.type("\x03")
        seen = terminal.finish()
    finally:
        terminal.close()
    assert time.monotonic() - pressed < 10
    assert "stopped by you" in seen
    assert "Traceback" not in seen
    assert terminal.exit_code == 130


def test_output_before_a_timeout_is_shown(nova: Nova) -> None:
    source = b"print('partial', flush=True)\nimport time\ntime.sleep(30)"
    started = time.monotonic()
    ended = nova("run", "-", "-l", "python", "--timeout", "0.5", stdin=source)
    assert time.monotonic() - started < 20
    assert ended.stdout == "partial\n"
    assert "stopped at its time limit" in ended.stderr
    assert "run.timed_out" in ended.stderr
    assert ended.code == 5


def test_input_without_stdin_ends_at_once_with_a_hint(nova: Nova, tmp_path: Path) -> None:
    program = tmp_path / "ask.py"
    program.write_text("input('name? ')\n")
    ended = nova("run", str(program), "--timeout", "20")
    assert ended.stdout == "name? "
    assert "EOFError" in ended.stderr
    assert "No standard input is connected" in ended.stderr
    assert ended.code == 1


def test_input_reads_what_is_piped_in(nova: Nova, tmp_path: Path) -> None:
    program = tmp_path / "ask.py"
    program.write_text("print('hello', input(), input())\n")
    assert nova("run", str(program), stdin=b"big\nworld\n").stdout == "hello big world\n"


def test_long_output_says_what_was_kept_and_what_to_do_instead(nova: Nova) -> None:
    source = b"print('x' * 3_000_000)\nopen('/work/plot.svg', 'w').write('<svg/>')"
    ended = nova("run", "-", "-l", "python", "--json", stdin=source)
    result = ended.document
    assert result["status"] == "finished"
    assert result["truncated"]["stdout"] > 1_000_000
    assert "write long results to a file" in result["stderr"]
    assert [change["path"] for change in result["files"]] == ["plot.svg"]


def test_a_missing_neighbour_is_explained(nova: Nova, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("ANSWER = 42\n")
    program = tmp_path / "main.py"
    program.write_text("import helper\nprint(helper.ANSWER)\n")
    ended = nova("run", str(program))
    assert "ModuleNotFoundError" in ended.stderr
    assert "helper.py lies beside your program but was not staged" in ended.stderr
    assert ended.code == 1
    assert nova("run", str(program), "--work", str(tmp_path)).stdout == "42\n"


@pytest.mark.parametrize(
    ("source", "status", "guest_code", "code"),
    [
        ("pass", "finished", 0, 0),
        ("import sys; sys.exit(124)", "failed", 124, 1),
        ("import sys; sys.exit(137)", "failed", 137, 1),
        ("raise SystemExit('text')", "failed", 1, 1),
        ("1 / 0", "failed", 1, 1),
        ("while True: pass", "timed_out", None, 5),
        ("x = [bytes(1 << 20) for _ in range(4096)]", "out_of_memory", 1, 5),
    ],
)
def test_how_it_ended_is_one_word_apart_from_the_exit_code(
    nova: Nova, source: str, status: str, guest_code: int | None, code: int
) -> None:
    limits = ("--timeout", "1", "--memory", "128M")
    ended = nova("run", "-", "-l", "python", "--json", *limits, stdin=source.encode())
    assert ended.document["status"] == status
    assert ended.document["exit_code"] == guest_code
    assert ended.code == code


def test_an_abort_is_a_failure_of_the_program(nova: Nova) -> None:
    ended = nova("run", "-", "-l", "python", "--json", stdin=b"import os; os.abort()")
    assert ended.document["status"] == "failed"
    assert ended.code == 1


def test_the_command_line_and_the_api_run_under_the_same_rules(nova: Nova) -> None:
    source = "import os\nprint(sorted(os.environ), os.getcwd(), os.listdir('/'))"
    ended = nova("run", "-", "-l", "python", "--json", stdin=source.encode())
    with Engine.open() as engine:
        result = engine.execute(ExecutionRequest(language=Language.PYTHON, source=source))
    apart = ("duration_ms", "queued_ms")
    ours, theirs = ended.document, result.to_json()
    assert {k: v for k, v in ours.items() if k not in apart} == {
        k: v for k, v in theirs.items() if k not in apart
    }
    assert Limits() == ExecutionRequest(language=Language.PYTHON, source="").limits


def test_javascript_runs_too(nova: Nova, tmp_path: Path) -> None:
    program = tmp_path / "sum.mjs"
    program.write_text("console.log([1, 2, 3].reduce((a, b) => a + b), process.argv.slice(2));")
    ended = nova("run", str(program), "--", "a")
    assert ended.stdout.startswith("6 ")
    assert ended.code == 0


def test_a_shell_script_is_refused_with_the_way_out(nova: Nova, tmp_path: Path) -> None:
    program = tmp_path / "x.sh"
    program.write_text("echo hi\n")
    ended = nova("run", str(program))
    assert "request.language_not_in_runtime" in ended.stderr
    assert ended.code == 2


def test_a_runtime_that_is_not_built_is_unavailable(nova: Nova) -> None:
    ended = nova("run", "-", "-l", "python", "--runtime", "docker", stdin=b"print(1)")
    assert "runtime.not_built" in ended.stderr
    assert ended.code == 4


@pytest.mark.security
def test_local_needs_both_keys(nova: Nova, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("run", "-", "-l", "python", "--runtime", "local")
    monkeypatch.delenv("NOVA_SANDBOX_ALLOW_LOCAL", raising=False)
    refused = nova(*arguments, stdin=b"print(1)")
    assert "runtime.local_not_allowed" in refused.stderr
    assert refused.code == 3
    monkeypatch.setenv("NOVA_SANDBOX_ALLOW_LOCAL", "1")
    allowed = nova(*arguments, stdin=b"print(1)")
    assert allowed.stdout == "1\n"
    assert "NOT SANDBOXED" in allowed.stderr


@pytest.mark.security
def test_a_credential_in_env_is_refused(nova: Nova) -> None:
    ended = nova("run", "-", "-l", "python", "--env", "GITHUB_TOKEN=x", stdin=b"print(1)")
    assert "policy.credential_in_environment" in ended.stderr
    assert ended.code == 3


def test_a_misspelt_setting_is_an_error_not_a_default(
    nova: Nova, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOVA_SANDBOX_RUNTIME", "wsam")
    ended = nova("run", "-", "-l", "python", stdin=b"print(1)")
    assert "settings.unknown_runtime" in ended.stderr
    assert ended.code == 2


def test_doctor_says_what_works(nova: Nova) -> None:
    ended = nova("doctor", "--json")
    assert ended.code == 0, ended.stdout
    health = ended.document
    state = {runtime["name"]: runtime for runtime in health["runtimes"]}
    assert list(state) == ["wasm", "nova", "docker", "local"]
    assert state["wasm"]["available"]
    assert state["wasm"]["languages"] == ["python", "javascript"]
    for name in ("nova", "docker", "local"):
        assert not state[name]["available"]
        assert state[name]["reason"]
        assert state[name]["remedy"]
    assert health["versions"]["wasmtime"]
    assert health["versions"]["guest python"].startswith("3.13")
    packages = {package["name"].lower() for package in health["packages"]}
    assert {"openpyxl", "jinja2", "pygal"} <= packages
    assert health["disk_bytes"]["cache"] > 1_000_000
    text = nova("doctor").stdout
    assert "openpyxl" in text
    assert "not part of this version" in text


def test_prompt_is_ten_lines_a_model_can_use(nova: Nova) -> None:
    ended = nova("prompt")
    assert len(ended.stdout.splitlines()) == 10
    assert "numpy" in ended.stdout
    assert "/work" in ended.stdout


def test_what_is_wrong_with_the_file_comes_before_its_language(nova: Nova, tmp_path: Path) -> None:
    folder = nova("run", str(tmp_path))
    assert (folder.code, "program.is_a_folder" in folder.stderr) == (2, True), folder.stderr
    missing = nova("run", str(tmp_path / "nowhere"))
    assert (missing.code, "program.not_found" in missing.stderr) == (2, True), missing.stderr
    readable = tmp_path / "nameless"
    readable.write_text("print(1)")
    unnamed = nova("run", str(readable))
    assert (unnamed.code, "request.language_not_named" in unnamed.stderr) == (2, True)
