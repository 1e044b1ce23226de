"""Splitting the inner dimension."""

import math


def busy(m: int, sms: int, **_: object) -> dict[str, float]:
    """Tiles over SMs, at most all (Matrix Multiplication Background User's Guide, Wave Quantization)."""
    tiles = (m // 128) ** 2
    return {"answer": 100 * min(1, tiles / sms), "tiles": tiles}


def speedup(m: int, sms: int, split: int, **_: object) -> dict[str, float]:
    """Waves of shorter blocks (CUTLASS, Efficient GEMM in CUDA, split-K)."""
    tiles = (m // 128) ** 2
    waves = math.ceil(tiles * split / sms)
    return {"answer": math.ceil(tiles / sms) * split / waves, "blocks": tiles * split, "waves": waves}


def workspace(m: int, split: int, **_: object) -> float:
    """A partial result of M × N floats for each part of K."""
    return 4 * split * m**2 / 1e6
