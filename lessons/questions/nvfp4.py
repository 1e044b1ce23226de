"""Probes of NVFP4: values with both scales, sizes of scales, and stochastic rounding.

Source: Transformer Engine, "NVFP4": s_tensor = amax / (448 · 6), s_block = (block amax / 6) / s_tensor in E4M3;
CUTLASS, "Blackwell SM100 GEMMs": D = C + sum (A SFA) (B SFB); OCP Microscaling Formats, 1.0, 6.3: the floor rule.
"""

import math

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E4M3_MOST, E4M3_LEAST, E4M3_MANTISSA = 448.0, -6, 3
BLOCK = {"NVFP4": 16, "MXFP4": 32}


def stored_scale(tensor: float, block: float) -> dict[str, float]:
    """The block's scale relative to the tensor's, in E4M3."""
    exact = (block / E2M1[-1]) / (tensor / (E4M3_MOST * E2M1[-1]))
    return {"answer": _e4m3(exact), "exact": exact, "step": _step(exact)}


def value_back(scale: float, tensor: float, x: float) -> dict[str, float]:
    """x divided by both scales, rounded, and multiplied back."""
    divided = x / (scale * tensor)
    rounded = _e2m1(divided)
    return {"answer": rounded * scale * tensor, "divided": divided, "rounded": rounded}


def amax_back(amax: float, format: str) -> dict[str, float]:
    """A block's largest element under the scale of each format."""
    power = 2.0 ** (math.floor(math.log2(amax)) - 2)
    scale = power if format.startswith("MXFP4") else _e4m3(amax / E2M1[-1])
    rounded = _e2m1(amax / scale)
    return {"answer": rounded * scale, "scale": scale, "divided": amax / scale, "rounded": rounded}


def megabytes(rows: int, columns: int, format: str) -> dict[str, float]:
    """A byte for each block, in MB."""
    return {"answer": rows * columns / BLOCK[format] / 1e6, "block": BLOCK[format]}


def one_element(first: int, second: int, scale: int, a: float) -> dict[str, float]:
    """Two blocks along K with their scales, then the tensors' scales."""
    total = first * 2 * 1.5 + second * 0.5 * scale
    return {"answer": total * a * 0.5, "sum": total}


def scale_kib(rows: int, k: int) -> dict[str, float]:
    """The matrix of scales, padded to 128 rows and 4 columns, in KiB."""
    scales = k // BLOCK["NVFP4"]
    high, wide = 128 * math.ceil(rows / 128), 4 * math.ceil(scales / 4)
    return {"answer": high * wide / 1024, "scales": scales, "wide": wide, "high": high}


def rounds_up(x: float) -> dict[str, float]:
    """The distance from the lower neighbour over the gap, in per cent."""
    low = max(value for value in E2M1 if value <= x)
    high = min(value for value in E2M1 if value > x)
    return {"answer": 100 * (x - low) / (high - low), "low": low, "high": high, "gap": high - low}


def scales_of_weights(rows: int, columns: int, shape: str) -> dict[str, int]:
    """One scale for each block of that shape."""
    size = math.prod(int(number) for number in shape.split(" × "))
    return {"answer": rows * columns // size, "size": size}


def _e2m1(x: float) -> float:
    """The nearest magnitude, saturated; the probes' draws avoid ties."""
    return min(E2M1, key=lambda value: abs(value - x))


def _step(x: float) -> float:
    return 2.0 ** (max(math.frexp(x)[1] - 1, E4M3_LEAST) - E4M3_MANTISSA)


def _e4m3(x: float) -> float:
    return min(round(x / _step(x)) * _step(x), E4M3_MOST)
