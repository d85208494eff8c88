"""code.execute from request to result, over real folders and in the real guests."""

from __future__ import annotations

import json
import os
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nova_desktop.execute import ExecutionService
from nova_desktop.model import (
    KIB,
    MIB,
    Cancellation,
    ExecutionRequest,
    ExecutionResult,
    InvalidRequest,
    Language,
    Limits,
    Status,
    Stream,
    Workspace,
)
from nova_desktop.sandbox.wasm.runtime import WasmRuntime

Execute = Callable[..., ExecutionResult]


@pytest.fixture
def service(wasm_runtime: WasmRuntime) -> ExecutionService:
    return ExecutionService(runtime=lambda name: wasm_runtime, environment={}, own_folders=())


@pytest.fixture
def execute(service: ExecutionService) -> Execute:
    def call(
        source: str | None,
        *,
        language: Language = Language.PYTHON,
        work: Path | None = None,
        write: bool = True,
        on_output: Callable[[Stream, bytes], None] | None = None,
        cancellation: Cancellation | None = None,
        **request: Any,
    ) -> ExecutionResult:
        return service.execute(
            ExecutionRequest(
                language=language,
                source=None if source is None else textwrap.dedent(source),
                workspace=None if work is None else Workspace(path=work),
                **request,
            ),
            approve=lambda plan: write,
            on_output=on_output,
            cancellation=cancellation,
        )

    return call


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "sales.csv").write_text("name,amount\na,1\nb,2\n")
    (folder / "sub" / "old.txt").write_text("old")
    return folder


def test_python_changes_a_real_folder(execute: Execute, work: Path) -> None:
    source = """
        import csv, os, pathlib
        rows = list(csv.DictReader(open("sales.csv")))
        total = sum(int(row["amount"]) for row in rows)
        pathlib.Path("out").mkdir()
        pathlib.Path("out/report.md").write_text(f"total {total}\\n")
        with open("sales.csv", "a") as file:
            file.write("c,3\\n")
        os.remove("sub/old.txt")
        os.rmdir("sub")
        print(total)
    """
    (work / "sales.csv").chmod(0o640)
    result = execute(source, work=work)
    assert (result.status, result.exit_code, result.stdout) == (Status.FINISHED, 0, "3\n")
    assert result.written == ("out", "out/report.md", "sales.csv", "sub", "sub/old.txt")
    assert (work / "out" / "report.md").read_text() == "total 3\n"
    assert (work / "sales.csv").read_text().endswith("c,3\n")
    assert (work / "sales.csv").stat().st_mode & 0o777 == 0o640
    assert not (work / "sub").exists()
    assert result.enforced
    assert result.sandboxed


def test_javascript_changes_a_real_folder(execute: Execute, work: Path) -> None:
    source = """
        import fs from "fs";
        const lines = fs.readFileSync("sales.csv", "utf8").trim().split("\\n");
        fs.writeFileSync("count.txt", String(lines.length - 1));
        console.log(lines.length);
    """
    result = execute(source, language=Language.JAVASCRIPT, work=work)
    assert (result.status, result.stdout, result.stderr) == (Status.FINISHED, "3\n", "")
    assert result.written == ("count.txt",)
    assert (work / "count.txt").read_text() == "2"


def test_a_program_of_the_workspace_runs_with_its_package(execute: Execute, work: Path) -> None:
    (work / "pkg").mkdir()
    (work / "pkg" / "__init__.py").write_text("")
    (work / "pkg" / "helper.py").write_text("value = 42\n")
    (work / "main.py").write_text(
        "import sys\nfrom pkg.helper import value\nprint(value, sys.argv)\n"
    )
    result = execute(None, entry="main.py", work=work, arguments=("-v",))
    assert result.stdout == "42 ['main.py', '-v']\n"
    assert result.files == ()  # no __pycache__ is left


def test_a_single_file_is_all_that_the_program_sees(execute: Execute, work: Path) -> None:
    source = """
        import os
        print(os.listdir("/work"))
        open("sales.csv", "w").write("changed")
        open("other.csv", "w").write("new")
    """
    result = execute(source, work=work / "sales.csv")
    assert result.stdout == "['sales.csv']\n"
    assert result.written == ("sales.csv",)
    assert [(note.path, note.code) for note in result.withheld] == [
        ("other.csv", "apply.not_given")
    ]
    assert not (work / "other.csv").exists()


@pytest.mark.security
def test_links_of_the_workspace_do_not_exist_for_the_program(
    execute: Execute, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (work / "link").symlink_to(tmp_path / "secret")
    assert (work / "link").read_text() == "secret"  # control
    result = execute("print(open('link').read())", work=work)
    assert result.status is Status.FAILED
    assert "secret" not in result.stdout
    assert result.error is not None
    assert result.error.hint == "link was not shown to the program: it is a link."
    assert [note.code for note in result.left_out] == ["left_out.link"]


@pytest.mark.security
def test_names_that_try_something_are_written_whole_or_withheld(
    execute: Execute, work: Path
) -> None:
    source = r"""
        for name in ["a:b.txt", "con", "x.", "n\u00e4me\nzwei.txt", "SALES.csv", ".bashrc"]:
            open(name, "w").write(name)
        try:
            open("y" * 300, "w")
        except OSError as error:
            print(type(error).__name__)
    """
    result = execute(source, work=work)
    assert result.stdout == "OSError\n"
    withheld = {note.path: note.code for note in result.withheld}
    assert withheld == {"SALES.csv": "name.collision", ".bashrc": "apply.runs_outside"}
    for name in result.written:
        assert (work / name).read_text() == name
    assert len(result.written) == 4


@pytest.mark.security
def test_a_hole_of_a_terabyte_costs_nobody_anything(execute: Execute, work: Path) -> None:
    began = time.monotonic()
    result = execute("open('big', 'wb').truncate(1 << 39); open('s', 'w').write('1')", work=work)
    assert time.monotonic() - began < 10
    assert [(note.path, note.code) for note in result.withheld] == [("big", "apply.too_large")]
    assert result.written == ("s",)


def test_an_edit_of_the_owner_meanwhile_wins(execute: Execute, work: Path) -> None:
    def edit(stream: Stream, data: bytes) -> None:
        (work / "sales.csv").write_text("owner's")

    source = "print('now', flush=True); open('sales.csv', 'w').write('guest')"
    result = execute(source, work=work, on_output=edit)
    assert [(note.path, note.code) for note in result.withheld] == [("sales.csv", "apply.conflict")]
    assert (work / "sales.csv").read_text() == "owner's"


@pytest.mark.parametrize(
    ("language", "source"),
    [
        (Language.PYTHON, "open('f', 'w').write('1'); print('partial')\nwhile True: pass"),
        (
            Language.JAVASCRIPT,
            "import fs from 'fs'; fs.writeFileSync('f', '1'); console.log('partial');"
            " while (true) {}",
        ),
    ],
)
def test_a_time_out_keeps_output_and_files(
    execute: Execute, work: Path, language: Language, source: str
) -> None:
    result = execute(source, language=language, work=work, limits=Limits(timeout_s=1))
    assert result.status is Status.TIMED_OUT
    assert result.exit_code is None
    assert result.written == ("f",)
    assert result.error is not None
    assert result.error.remedy
    if language is Language.JAVASCRIPT:
        assert result.stdout == "partial\n"


def test_a_stop_keeps_output_and_writes_nothing(execute: Execute, work: Path) -> None:
    cancellation = Cancellation()
    threads: list[threading.Thread] = []

    def stop(stream: Stream, data: bytes) -> None:
        threads.append(threading.Thread(target=cancellation.request))
        threads[-1].start()

    source = "open('f', 'w').write('1'); print('on', flush=True)\nwhile True: pass"
    result = execute(source, work=work, on_output=stop, cancellation=cancellation)
    threads[0].join()
    assert (result.status, result.stdout) == (Status.STOPPED, "on\n")
    assert [change.path for change in result.files] == ["f"]
    assert result.written == ()


def test_running_out_of_memory_is_told_from_other_failures(execute: Execute, work: Path) -> None:
    result = execute(
        "open('f', 'w').write('1'); x = bytearray(1 << 29)",
        work=work,
        limits=Limits(memory_bytes=128 * MIB),
    )
    assert result.status is Status.OUT_OF_MEMORY
    assert result.written == ("f",)


@pytest.mark.parametrize("code", [1, 124, 137])
def test_exit_codes_are_the_programs_own(execute: Execute, code: int) -> None:
    result = execute(f"import sys; sys.exit({code})")
    assert (result.status, result.exit_code) == (Status.FAILED, code)
    assert result.error is not None
    assert result.error.code == "guest.exit_code"


def test_long_output_names_the_cap_and_the_file_is_the_way_out(
    execute: Execute, work: Path
) -> None:
    source = """
        import base64
        text = base64.b64encode(bytes(150_000)).decode()
        print("head"); print(text); print("tail")
        open("plot.svg", "w").write(text)
    """
    result = execute(source, work=work, limits=Limits(output_bytes=8 * KIB))
    assert result.status is Status.FINISHED
    assert result.stdout.startswith("head\n")
    assert result.stdout.endswith("tail\n")
    assert result.truncated["stdout"] > 100_000
    assert "8 KB" in result.stderr
    assert "file in /work" in result.stderr
    (plot,) = result.files
    assert (plot.path, plot.size, plot.media_type) == ("plot.svg", 200_000, "image/svg+xml")


@pytest.mark.parametrize(
    ("language", "source", "words"),
    [
        (Language.PYTHON, "import numpy", "numpy"),
        (Language.PYTHON, "import pandas as pd", "sqlite3"),
        (Language.PYTHON, "import subprocess", "processes"),
        (Language.PYTHON, "import socket", "network"),
        (Language.PYTHON, "open('/home/me/data.csv')", "/work"),
        (Language.PYTHON, r"open('C:\\Users\\me\\data.csv')", "/work"),
        (Language.PYTHON, "open('~/data.csv')", "/work"),
        (Language.PYTHON, "input('name? ')", "standard input"),
        (Language.PYTHON, "import helpers", "--work"),
        (Language.JAVASCRIPT, "fetch('https://example.com')", "network"),
        (Language.JAVASCRIPT, "import cp from 'child_process'", "processes"),
        (Language.JAVASCRIPT, "import fs from 'fs'; fs.readFileSync('/home/me/x')", "/work"),
        (Language.JAVASCRIPT, "import h from './helper.js'", "--work"),
    ],
)
def test_a_failure_at_the_edge_is_explained_after_the_traceback(
    execute: Execute, language: Language, source: str, words: str
) -> None:
    result = execute(source, language=language)
    assert (result.status, result.exit_code) == (Status.FAILED, 1)
    assert result.error is not None
    assert words in result.error.hint
    assert result.stderr.endswith(f"nova: {result.error.hint}\n")
    assert result.stderr.count("nova: ") == 1


def test_results_are_valid_json_whatever_the_program_prints(execute: Execute) -> None:
    source = r"""
        import sys
        sys.stdout.buffer.write(b"\xff\xfe")
        sys.stderr.buffer.write(b"\xed\xa0\x80")
        raise ValueError("\ud800")
    """
    result = execute(source)
    text = json.dumps(result.to_json(), ensure_ascii=False)
    assert json.loads(text.encode())["stdout"] == "\ufffd\ufffd"


@pytest.mark.security
def test_runs_at_the_same_time_share_nothing(execute: Execute) -> None:
    source = """
        import os
        assert os.listdir("/work") == [] and os.listdir("/tmp") == []
        import builtins
        assert not hasattr(builtins, "mark")
        builtins.mark = True
        open("/work/x", "w").write(os.environ["MINE"]); open("/tmp/x", "w")
        print(open("/work/x").read())
    """

    def run(number: int) -> str:
        result = execute(source, environment={"MINE": str(number)})
        assert result.status is Status.FINISHED, result.stderr
        return result.stdout

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(16))) == [f"{number}\n" for number in range(16)]


def test_a_long_run_does_not_starve_short_ones(execute: Execute) -> None:
    limits = Limits(timeout_s=20)
    with ThreadPoolExecutor(8) as pool:
        long = pool.submit(execute, "import time; time.sleep(2); print('long')", limits=limits)
        time.sleep(0.1)
        began = time.monotonic()
        short = list(pool.map(lambda _: execute("print(1)"), range(6)))
        took = time.monotonic() - began
    assert [result.stdout for result in short] == ["1\n"] * 6
    assert long.result().stdout == "long\n"
    if (os.cpu_count() or 1) > 1:
        assert took < 1.5


@pytest.mark.security
def test_the_environment_is_exactly_what_was_given(
    execute: Execute, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOVA_TEST_SECRET", "secret")
    result = execute("import os; print(sorted(os.environ))", environment={"MODE": "x"})
    assert result.stdout == "['HOME', 'LANG', 'MODE', 'TMPDIR', 'TZ']\n"


def test_an_unknown_time_zone_is_a_bad_request(execute: Execute) -> None:
    with pytest.raises(InvalidRequest) as caught:
        execute("pass", timezone="Mars/Olympus")
    assert caught.value.code == "request.unknown_timezone"
