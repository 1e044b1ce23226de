"""Probes of fp16: what 16 bits can hold. Rounding is to nearest, ties to even (IEEE 754)."""

from math import ceil, frexp, log2
from struct import pack, unpack

BIAS = 15
FRACTION = 10
SMALLEST_NORMAL = 2.0**-14
SMALLEST = 2.0**-24
LARGEST = 65504.0
BF16_BITS = 8  # significant ones
RANGES = {"FP8 E4M3": 448.0, "FP8 E5M2": 57344.0, "FP16": LARGEST, "BF16": 3.3895e38}
"""Largest finite numbers; of FP8 by Micikevicius et al., FP8 Formats for Deep Learning, 2022."""
SIGNIFICANT = {"FP16": 11, "BF16": BF16_BITS, "FP32": 24}  # bits


def _to_half(value: float) -> float:
    """`value` rounded to FP16; infinity beyond its range."""
    try:
        rounded: float = unpack("<e", pack("<e", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def _to_bits(value: float, significant: int) -> float:
    """`value` rounded to so many significant bits, with as much range as Python has."""
    unit = 2.0 ** (frexp(value)[1] - significant)
    return round(value / unit) * unit


def _gap(value: float) -> int:
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


def near_the_top(value: str) -> str:
    """What a number at the end of FP16's range becomes."""
    number = 1.0
    for factor in value.replace("−", "-").split(" · "):
        number *= float(factor)
    rounded = _to_half(number)
    name = "infinity" if abs(rounded) > LARGEST else f"{abs(rounded):.0f}"
    if rounded > 0:
        return name
    return f"minus {name}" if name == "infinity" else f"−{name}"


def near_zero(value: str) -> dict[str, float | str]:
    """What a number near 2^-24 becomes: a whole multiple of it."""
    number = 2.0 ** int(value[2:]) if value.startswith("2^") else float(value)
    rounded = _to_half(number)
    answer = f"2^{log2(rounded):.0f}" if rounded else "0"
    return {"answer": answer, "multiple": number / SMALLEST}


def spacing(value: float) -> dict[str, float | str]:
    """The distance to the next larger FP16 number: 2^(exponent − 10)."""
    stored = _to_half(value)
    power = _gap(stored)
    start = 2.0 ** (power + FRACTION)
    where = f"between {start:g} and {2 * start:g}" if stored >= SMALLEST_NORMAL else "among the subnormals"
    return {"answer": 2.0**power, "stored": f"{stored:g}", "power": power, "where": where}


def sum_stops(value: float) -> dict[str, float]:
    """Where repeated addition in FP16 stops growing, found by doing it."""
    step, total = _to_half(value), 0.0
    while _to_half(total + step) != total:
        total = _to_half(total + step)
    return {"answer": total, "stored": step}


def lost_update(format: str, step: str) -> dict[str, float | str]:
    """1 plus a thousand steps, rounded after each, found by doing it."""
    bits, add = SIGNIFICANT[format], float(step)
    weight = 1.0
    for _ in range(1000):
        weight = _to_bits(weight + add, bits)
    gap_above = 2.0 ** (1 - bits)
    if weight == 1:
        why = "The step is at most half of that, so every addition is rounded back to the old weight"
    elif add > gap_above:
        why = "The step is larger than that, so rounding changes it little"
    elif weight > 1 + 1500 * add:
        why = "The step is more than half of that, so every addition moves the weight by a whole gap"
    else:
        why = "The steps are rounded, but none is lost"
    return {"answer": f"{round(weight, 1):g}", "gap": gap_above, "why": why}


def loss_scale(gradient: float) -> dict[str, float]:
    """The smallest power of two that lifts `gradient` to FP16's smallest normal number (Mixed Precision Training)."""
    scale = 2.0 ** ceil(log2(SMALLEST_NORMAL / gradient))
    return {"answer": scale, "factor": SMALLEST_NORMAL / gradient, "largest": LARGEST / scale}


def scaled_step(scale: int, seen: float, rate: float) -> dict[str, float]:
    """How far plain SGD moves a weight: learning rate · scaled gradient / scale (Mixed Precision Training)."""
    gradient = seen / scale
    return {"answer": rate * gradient, "gradient": gradient}


def largest(exponent: int, fraction: int) -> dict[str, float]:
    """The largest finite number of an IEEE format: (2 − 2^-fraction) · 2^bias, bias 2^(exponent−1) − 1."""
    bias = 2 ** (exponent - 1) - 1
    return {"answer": (2 - 2.0**-fraction) * 2.0**bias, "bias": bias}


def bf16_rounded(value: int) -> dict[str, float | str]:
    """`value` with 8 significant bits (Kalamkar et al., 2019)."""
    power = frexp(value)[1]
    half = _to_half(float(value))
    return {
        "answer": _to_bits(value, BF16_BITS),
        "gap": 2 ** (power - BF16_BITS),
        "start": 2 ** (power - 1),
        "end": 2**power,
        "half": f"{half:.0f}" if half <= LARGEST else "infinity",
    }


def format_for(value: int) -> str:
    """The format of the smallest range that holds `value`."""
    return next(name for name, most in RANGES.items() if value <= most)
