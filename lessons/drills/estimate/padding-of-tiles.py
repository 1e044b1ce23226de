"""Sizes that do not fit the tile."""

import math


def tiles(m: int, n: int, t: int) -> float:
    """Tiles that cover the output (Matrix Multiplication Background User's Guide, Tile Quantization)."""
    return math.ceil(m / t) * math.ceil(n / t)


def useful(m: int, n: int, t: int) -> dict[str, float]:
    """Elements of the matrix over elements of its tiles (the same guide)."""
    computed = math.ceil(m / t) * math.ceil(n / t) * t * t
    return {"answer": 100 * m * n / computed, "computed": computed}
