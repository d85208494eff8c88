"""Every attack of the registry: stopped in the sandbox, and able to succeed without it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from nova_desktop import Engine, ExecutionRequest, ExecutionResult
from nova_desktop.model import MIB, Language, Limits
from tests.attack.attack import REACHED, Attack, Control
from tests.attack.group_state import JS_PROBE, PROBE
from tests.attack.registry import ATTACKS
from tests.attack.world import World, measured, missing_for_controls, run_control, world

pytestmark = pytest.mark.security

HOST_SLACK_BYTES = 64 * MIB
"""What the host may use beside a run's budget: copies in flight, the interpreter's own arenas."""
CPU_SLACK_S = 1.5


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("nova-home")) as opened:
        for language in (Language.PYTHON, Language.JAVASCRIPT):
            opened.execute(ExecutionRequest(language=language, source=""))
        yield opened


@pytest.fixture(scope="module")
def made() -> Iterator[World]:
    with world() as the_world:
        yield the_world


def execute(engine: Engine, attack: Attack, source: str) -> ExecutionResult:
    return engine.execute(
        ExecutionRequest(
            language=attack.language,
            source=source,
            source_name="attack.py" if attack.language is Language.PYTHON else "attack.mjs",
            files=attack.files,
            limits=attack.limits,
            arguments=("guest-argument",),
        )
    )


def second_half(attack: Attack) -> str:
    """What runs after the plant: for a state attack only the probe."""
    if attack.control is not Control.SAME_RUN:
        return attack.source
    mark = JS_PROBE if attack.language is Language.JAVASCRIPT else PROBE
    plant, probe = attack.source.split(mark)
    assert plant.strip()
    assert probe.strip()
    return probe


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_stopped(engine: Engine, made: World, attack: Attack) -> None:
    made.reset_target()
    before = len(made.connections)
    if attack.control is Control.SAME_RUN:
        mark = JS_PROBE if attack.language is Language.JAVASCRIPT else PROBE
        execute(engine, attack, attack.source.split(mark)[0])
    with measured() as cost:
        result = execute(engine, attack, made.fill_in(second_half(attack), "/work"))
    told = f"{result.status} {result.error} {result.stdout[-300:]} {result.stderr[-1500:]}"
    assert REACHED not in result.stdout, told
    assert made.canary not in result.stdout + result.stderr, told
    assert result.status in attack.statuses, told
    assert made.target_is_untouched()
    assert len(made.connections) == before
    assert result.sandboxed
    assert cost.cpu_s <= 2 * attack.limits.timeout_s + CPU_SLACK_S
    assert cost.peak_growth_bytes <= attack.limits.memory_bytes + HOST_SLACK_BYTES
    if attack.denied:
        assert attack.denied in {denied.operation for denied in result.denied}, result.denied
    alive = engine.execute(ExecutionRequest(language=Language.PYTHON, source="print(6 * 7)"))
    assert alive.stdout == "42\n"


@cache
def why_no_controls(language: Language) -> str:
    return missing_for_controls(language)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_control_shows_that_it_could_succeed(engine: Engine, made: World, attack: Attack) -> None:
    source = attack.control_source or attack.source
    if attack.control in (Control.SAME_RUN, Control.OTHER_LIMIT, Control.VALID_CALL):
        limits = Limits(timeout_s=20.0)
        result = engine.execute(
            ExecutionRequest(
                language=attack.language,
                source=made.fill_in(source, "/work"),
                source_name="control",
                limits=limits,
            )
        )
        assert REACHED in result.stdout, result.stderr
        return
    reason = why_no_controls(attack.language)
    if reason:
        assert not os.environ.get("CI"), f"controls cannot run in CI: {reason}"
        pytest.skip(f"the control of {attack.name} did not run: {reason}")
    made.reset_target()
    if attack.control is Control.STILL_RUNNING:
        run = run_control(made, source, attack.language, seconds=attack.limits.timeout_s + 0.4)
        assert run.exit_code is None, run
    elif attack.control is Control.CRASHES:
        run = run_control(made, source, attack.language, seconds=30)
        assert run.crashed, run
    else:
        assert attack.control is Control.NATIVE
        run = run_control(made, source, attack.language, seconds=30)
        assert REACHED in run.output or made.canary in run.output, run


def test_names_are_distinct() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names)
    programs = {(attack.language, attack.source.strip()) for attack in ATTACKS}
    assert len(programs) == len(ATTACKS), "two attacks with the same program are one attack"


def test_groups_are_files_of_this_folder() -> None:
    groups = {attack.group.replace(" ", "_") for attack in ATTACKS}
    assert groups == {p.stem.removeprefix("group_") for p in Path(__file__).parent.glob("group_*")}
