"""What drill `sums-for-a-norm` asks for."""

from math import log2

BITS = 24  # significant bits of FP32


def bits_left(ratio: float) -> dict[str, float]:
    """Of two numbers that are ratio² times their difference (IEEE 754: 24 bits)."""
    lost = round(2 * log2(ratio))
    return {"answer": BITS - lost, "lost": lost}
