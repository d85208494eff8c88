from __future__ import annotations

import time

import pytest

from nova_desktop.sandbox.wasm import ticker as ticker_module
from nova_desktop.sandbox.wasm.ticker import Ticker


def test_ticks_while_a_run_lives_and_rests_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticker_module, "_LINGER_S", 0.05)
    ticks: list[float] = []
    ticker = Ticker(lambda: ticks.append(time.monotonic()), 0.01)
    states = [ticker.rests]
    for _ in range(2):
        ticks.clear()
        with ticker.running():
            states.append(ticker.rests)
            time.sleep(0.2)
        assert 10 <= len(ticks) <= 21
        time.sleep(0.2)
        states.append(ticker.rests)
        ticks.clear()
        time.sleep(0.05)
        assert ticks == []
    ticker.close()
    assert states == [True, False, True, False, True]


def test_goes_on_between_runs_that_follow_closely() -> None:
    ticks: list[int] = []
    ticker = Ticker(lambda: ticks.append(1), 0.01)
    for _ in range(3):
        with ticker.running():
            time.sleep(0.02)
        time.sleep(0.03)
        assert not ticker.rests
    ticker.close()


def test_close_without_any_run_does_nothing() -> None:
    Ticker(lambda: None, 0.01).close()
