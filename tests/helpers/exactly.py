"""Floating-point results computed from exact fractions: the oracle where NumPy has no such format or rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

NEAREST, TO_ZERO, DOWN, UP = "rn", "rz", "rm", "rp"


@dataclass(frozen=True)
class Format:
    """A binary format with `mantissa` bits behind the point and the exponents `least` to `most`."""

    mantissa: int
    least: int
    most: int

    @property
    def largest(self) -> Fraction:
        return (2 - Fraction(1, 2**self.mantissa)) * Fraction(2) ** self.most


HALF, BFLOAT, SINGLE, DOUBLE = (
    Format(10, -14, 15),
    Format(7, -126, 127),
    Format(23, -126, 127),
    Format(52, -1022, 1023),
)


def rounded(value: Fraction, to: Format, direction: str = NEAREST) -> float:
    """The number of the format next to an exact value in a direction; "rn" is to nearest, ties to even."""
    size, negative = abs(value), value < 0
    if size == 0:
        return 0.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()  # or one more than it is
    exponent = max(exponent - (size < Fraction(2) ** exponent), to.least)
    unit = Fraction(2) ** (exponent - to.mantissa)
    steps, rest = divmod(size, unit)
    away = direction == (DOWN if negative else UP)
    if direction == NEAREST:
        steps += rest * 2 > unit or (rest * 2 == unit and steps % 2)
    else:
        steps += rest > 0 and away
    size = steps * unit
    if size > to.largest:
        size = np.inf if direction == NEAREST or away else to.largest
    return -float(size) if negative else float(size)


def fused(a: float, b: float, c: float, to: Format, direction: str = NEAREST) -> float:
    """a·b + c, rounded once; infinities, NaN and the signs of zeros as IEEE 754 has them."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    if not np.isfinite(c):
        return c
    value = Fraction(a) * Fraction(b) + Fraction(c)
    negative = bool(np.signbit(a) != np.signbit(b))
    if value:
        return rounded(value, to, direction)
    if negative == bool(np.signbit(c)):
        return -0.0 if negative else 0.0
    return -0.0 if direction == DOWN else 0.0
