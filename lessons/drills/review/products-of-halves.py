"""What drill `products-of-halves` asks for."""

import numpy as np


def stuck() -> float:
    """4,096 ones added up in FP16, each sum rounded to nearest, ties to even."""
    total = np.float16(0)
    for _ in range(8192 // 2):
        total = np.float16(total + np.float16(1))
    return float(total)
