from __future__ import annotations

import pytest

from nova_desktop.sandbox.wasm.budget import BudgetExceeded, MemoryBudget

pytestmark = pytest.mark.security


def test_the_total_can_be_used_up_and_not_passed() -> None:
    budget = MemoryBudget(100)
    budget.charge(60)
    budget.charge(40)
    with pytest.raises(BudgetExceeded):
        budget.charge(1)
    assert (budget.charged, budget.exceeded) == (100, True)


def test_a_refused_charge_charges_nothing() -> None:
    budget = MemoryBudget(100)
    with pytest.raises(BudgetExceeded):
        budget.charge(101)
    budget.charge(100)
    assert budget.charged == 100


def test_what_was_released_can_be_charged_again() -> None:
    budget = MemoryBudget(100)
    budget.charge(100)
    budget.release(30)
    budget.charge(30)
    assert not budget.exceeded


def test_the_guests_memory_counts_with_the_rest() -> None:
    budget = MemoryBudget(100)
    guest = 50
    budget.attach_guest(lambda: guest, lambda room: None)
    budget.charge(50)
    budget.release(50)
    guest = 51
    with pytest.raises(BudgetExceeded):
        budget.charge(50)


def test_the_guest_is_told_its_room_after_every_change() -> None:
    budget = MemoryBudget(100)
    budget.charge(10)
    rooms: list[int] = []
    budget.attach_guest(lambda: 0, rooms.append)
    budget.charge(20)
    budget.release(5)
    with pytest.raises(BudgetExceeded):
        budget.charge(1000)
    assert rooms == [90, 70, 75]
