"""Taking times: interleaved, so that what else the machine does hits every contender alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

Contender = Callable[[], object]


def milliseconds(action: Contender) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def interleaved(contenders: Mapping[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each contender, one of each in every round; a first round is dropped."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, action in contenders.items():
            taken = milliseconds(action)
            if number:
                samples[name].append(taken)
    return samples
