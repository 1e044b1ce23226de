"""Values that a sum is tried on beside usual ones: what reference.py puts into special inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NOT_FINITE = ((np.nan,), (np.inf,), (-np.inf,), (np.inf, -np.inf))


def of_a_sum(values: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Change the numbers of one sum in place, by the remainder of their count by 3: to sizes from 2^-100 to 2^100; to
    have NaN, an infinity, or infinities of both signs among them, whose sum is what IEEE 754 says; to subnormals and
    zeros alone, whose sum is exact."""
    count = len(values)
    if count % 3 == 0:
        values *= np.exp2(rng.integers(-100, 101, count, dtype=np.int8), dtype=np.float32)
    elif count % 3 == 1:
        chosen = NOT_FINITE[count % 4][:count]
        values[rng.choice(count, len(chosen), replace=False)] = chosen
    else:
        values[:] = rng.integers(-8, 9, count) * np.finfo(np.float32).smallest_subnormal
