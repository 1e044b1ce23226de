"""Numbers of hpc-07: what 16 bits can hold. Rounding is Python's own, to nearest, ties to even (IEEE 754)."""

from math import ceil, frexp, log2
from struct import pack, unpack

BIAS = 15
FRACTION = 10
SMALLEST_NORMAL = 2.0**-14
LARGEST = 65504.0


def to_half(value: float) -> float:
    """`value` rounded to FP16."""
    rounded: float = unpack("<e", pack("<e", value))[0]
    return rounded


def gap(value: float) -> int:
    """The power of two by which FP16 numbers at `value` (positive, finite) differ; subnormals by 2^-24."""
    return max(frexp(value)[1] - 1, 1 - BIAS) - FRACTION


def half_value(bits: str) -> dict[str, float | str]:
    """The number with these FP16 bits, IEEE 754: (−1)^s · 2^(e−15) · (1 + f/1024), or f · 2^-24 where e is 0."""
    word = int(bits, 16)
    sign, exponent, fraction = word >> 15, word >> FRACTION & 31, word & 1023
    size = f"(1 + {fraction}/1024) · 2^({exponent} − 15)" if exponent else f"{fraction} · 2^-24"
    value: float = unpack("<e", word.to_bytes(2, "little"))[0]
    return {
        "answer": value,
        "sign": sign,
        "exponent": exponent,
        "fraction": fraction,
        "formula": f"−{size}" if sign else size,
    }


def spacing(value: float) -> dict[str, float | str]:
    """The distance to the next larger FP16 number: 2^(exponent − 10)."""
    stored = to_half(value)
    power = gap(stored)
    start = 2.0 ** (power + FRACTION)
    where = f"between {start:g} and {2 * start:g}" if stored >= SMALLEST_NORMAL else "among the subnormals"
    return {"answer": 2.0**power, "stored": f"{stored:g}", "power": power, "where": where}


def sum_stops(value: float) -> dict[str, float]:
    """Where repeated addition in FP16 stops growing, found by doing it."""
    step, total = to_half(value), 0.0
    while to_half(total + step) != total:
        total = to_half(total + step)
    return {"answer": total, "stored": step}


def loss_scale(gradient: float) -> dict[str, float]:
    """The smallest power of two that lifts `gradient` to FP16's smallest normal number (Mixed Precision Training)."""
    scale = 2.0 ** ceil(log2(SMALLEST_NORMAL / gradient))
    return {"answer": scale, "factor": SMALLEST_NORMAL / gradient, "largest": LARGEST / scale}


def largest(exponent: int, fraction: int) -> dict[str, float]:
    """The largest finite number of an IEEE format: (2 − 2^-fraction) · 2^bias, bias 2^(exponent−1) − 1."""
    bias = 2 ** (exponent - 1) - 1
    return {"answer": (2 - 2.0**-fraction) * 2.0**bias, "bias": bias}
