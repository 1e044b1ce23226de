"""How many sequences fit."""

import math


def cache_gb(memory: int, billion: int, bytes: int, other: int, **_: object) -> float:
    """What weights and the rest leave (Kwon et al., 2023, figure 1)."""
    return memory - billion * bytes - other


def sequences(memory: int, billion: int, bytes: int, other: int, kib: int, tokens: int) -> dict[str, float]:
    """Cache over the bytes of a sequence, rounded down."""
    each = kib * 1024 * tokens / 1e9
    exact = (memory - billion * bytes - other) / each
    return {"answer": math.floor(exact), "each": each, "exact": exact}
