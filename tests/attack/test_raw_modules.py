"""Named attacks on the host-call layer and the engine, by modules made of nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from wasmtime import wat2wasm

from nova_desktop.model import MIB, Limits, RuntimeUnavailable, Status
from nova_desktop.sandbox.wasm.budget import MemoryBudget
from tests.attack.raw_attacks import DATA, MODULE_ATTACKS, RAW_ATTACKS, ModuleAttack, RawAttack
from tests.attack.raw_module import RawGuests

pytestmark = pytest.mark.security

LIMITS = Limits(timeout_s=1.0)


@pytest.fixture(scope="module")
def guests() -> Iterator[RawGuests]:
    with RawGuests() as raw:
        yield raw


@pytest.mark.parametrize("attack", RAW_ATTACKS, ids=lambda attack: attack.name)
def test_raw_call_is_refused(guests: RawGuests, attack: RawAttack) -> None:
    budget = MemoryBudget(16 * MIB)
    outcome = guests.run(attack.calls, {**DATA, **attack.data}, budget=budget, limits=LIMITS)
    assert outcome.status is attack.status, outcome.error
    if attack.status is Status.FINISHED:
        assert outcome.results[-1] in attack.errnos
    if attack.denied:
        assert attack.denied in {denied.operation for denied in outcome.denied}


@pytest.mark.parametrize("attack", RAW_ATTACKS, ids=lambda attack: attack.name)
def test_the_same_call_with_valid_arguments_succeeds(guests: RawGuests, attack: RawAttack) -> None:
    valid = {0: b"\0\x08\0\0\x10\0\0\0" + bytes(40)}
    outcome = guests.run(
        attack.control, {**DATA, **valid}, budget=MemoryBudget(16 * MIB), limits=LIMITS
    )
    assert outcome.status is Status.FINISHED, outcome.error
    expected = 4 if attack.control[-1][0] == "nova_call" else 0
    assert outcome.results[-1] == expected


@pytest.mark.parametrize("attack", MODULE_ATTACKS, ids=lambda attack: attack.name)
def test_module_is_stopped(guests: RawGuests, attack: ModuleAttack) -> None:
    wasm = bytes(wat2wasm(attack.text))
    if attack.statuses:
        outcome = guests.run_wasm(wasm, budget=MemoryBudget(16 * MIB), limits=LIMITS)
        assert outcome.status in attack.statuses, outcome.error
        return
    with pytest.raises(RuntimeUnavailable) as refused:
        guests.run_wasm(wasm, budget=MemoryBudget(16 * MIB), limits=LIMITS)
    assert refused.value.code in {"runtime.guest_refused", "runtime.cannot_start"}


@pytest.mark.parametrize("attack", MODULE_ATTACKS, ids=lambda attack: attack.name)
def test_harmless_twin_of_the_module_finishes(guests: RawGuests, attack: ModuleAttack) -> None:
    outcome = guests.run_wasm(
        bytes(wat2wasm(attack.control)), budget=MemoryBudget(16 * MIB), limits=LIMITS
    )
    assert outcome.status is Status.FINISHED, outcome.error
