"""Many adapters."""

import math


def _mb(layers, h, r):
    return layers * 4 * 2 * r * h * 2 / 1e6


def mb(layers: int, h: int, r: int) -> float:
    """Two factors of r × h for each matrix (Hu et al., 2021)."""
    return float(_mb(layers, h, r))


def fit(layers: int, h: int, r: int, gb: int) -> dict[str, float]:
    """Rounded down."""
    each = _mb(layers, h, r)
    return {"answer": math.floor(1e3 * gb / each), "each": each}


def load_ms(layers: int, h: int, r: int, pcie: int) -> dict[str, float]:
    """Bytes over bandwidth (Sheng et al., 2023, adapters in host memory)."""
    each = _mb(layers, h, r)
    return {"answer": each / pcie, "each": each}
