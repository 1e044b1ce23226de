"""Occupancy or more loads a thread."""

import math


def bytes_a_thread(need: int, percent: float) -> dict[str, float]:
    """Bytes in flight over resident threads (Volkov, 2016)."""
    threads = 2048 * percent / 100
    return {"answer": 1024 * need / threads, "threads": threads}


def vectors(need: int, percent: float) -> dict[str, float]:
    """The same in loads of 16 bytes, rounded up."""
    each = 1024 * need / (2048 * percent / 100)
    return {"answer": math.ceil(each / 16), "each": each}
