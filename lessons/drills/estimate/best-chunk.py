"""How many chunks."""

import math


def with_ten(copy: int, kernel: int, overhead: int) -> dict[str, float]:
    """A pipeline of two stages, of which the copy is the slower (Harris, 2012)."""
    stage, last = copy / 10 + overhead / 1e3, kernel / 10 + overhead / 1e3
    return {"answer": 10 * stage + last, "stage": stage, "last": last}


def best(kernel: int, overhead: int, **_: object) -> float:
    """The minimum of n·o + kernel/n, from its derivative."""
    return math.sqrt(1e3 * kernel / overhead)
