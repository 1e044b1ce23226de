"""Work and bytes of an FFT."""

import math


def gflop(batch: int, n: int) -> dict[str, float]:
    """5·N·log₂N (FFTW, benchFFT)."""
    return {"answer": 5 * n * math.log2(n) * batch / 1e9, "log": math.log2(n)}


def intensity(n: int, **_: object) -> dict[str, float]:
    """8 bytes read and 8 written for each element."""
    return {"answer": 5 * math.log2(n) / 16, "log": math.log2(n)}


def fewer(n: int, **_: object) -> dict[str, float]:
    """A complex multiplication and addition are 8 FLOP."""
    return {"answer": 8 * n / (5 * math.log2(n)), "log": math.log2(n)}
