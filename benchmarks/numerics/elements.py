"""Elements of every type that Tensor Cores take, as bytes."""

from __future__ import annotations

import functools

import numpy as np

from numerics.case import Array

INTEGERS = ("s8", "u8", "s4", "u4", "b1", "s32")
FP8 = {"e4m3": (3, 7), "e5m2": (2, 15)}
"""Bits of the mantissa, and the exponent's bias."""
BYTES = 16384
"""Of random elements: more than any operand has."""


@functools.cache
def fp8_values(kind: str) -> Array:
    """The numbers that the 256 codes stand for (OCP 8-bit floating point specification)."""
    mantissa, bias = FP8[kind]
    codes = np.arange(256)
    exponents, fractions = (
        codes >> mantissa & (1 << 7 - mantissa) - 1,
        codes % (1 << mantissa) / (1 << mantissa),
    )
    normal = (1 + fractions) * 2.0 ** (exponents - bias)
    values = np.where(exponents > 0, normal, fractions * 2.0 ** (1 - bias))
    if kind == "e4m3":
        values[codes & 0x7F == 0x7F] = np.nan
    else:
        values[codes & 0x7F == 0x7C] = np.inf
        values[codes & 0x7F > 0x7C] = np.nan
    return np.where(codes & 0x80, -values, values)


def encoded(values: Array, kind: str) -> Array:
    """The bytes of numbers, rounded to the type."""
    if kind in FP8:
        table = fp8_values(kind)
        finite = np.flatnonzero(np.isfinite(table))
        nearest = np.abs(values.ravel()[:, None] - table[finite]).argmin(1)
        codes = finite[nearest].astype(np.uint8)
        codes[values.ravel() == 0] = 0
        return codes
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8).ravel()
    dtype = {"f16": np.float16, "tf32": np.float32, "f32": np.float32, "f64": np.float64, "s32": np.int32}[
        kind
    ]
    return values.astype(dtype).view(np.uint8).ravel()


def small(kind: str, seed: int, nbytes: int = BYTES, most: int = 4) -> Array:
    """Of floats small whole numbers, whose products and sums are exact in every type; of integers any bits."""
    rng = np.random.default_rng(seed)
    if kind in INTEGERS:
        return rng.integers(0, 256, nbytes, dtype=np.uint8)
    count = nbytes // {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    return encoded(rng.integers(-most, most + 1, count).astype(float), kind)


def real(kind: str, seed: int, nbytes: int = BYTES) -> Array:
    """Normally distributed numbers; of integers any bits."""
    rng = np.random.default_rng(seed)
    if kind in INTEGERS:
        return rng.integers(0, 256, nbytes, dtype=np.uint8)
    count = nbytes // {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    return encoded(rng.standard_normal(count), kind)


_SPECIAL = {
    "f16": (0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFE00, 0x8000, 0x0001, 0x83FF, 0x0400),
    "bf16": (0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFC0, 0x8000, 0x0001, 0x807F, 0x0080),
    "tf32": (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F802000, 0x80000000, 0x00002000, 0x807FE000, 0x7F801000),
    "f32": (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F802000, 0x80000000, 0x00002000, 0x807FE000, 0x7FFFFFFF),
    "f64": (0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF << 52) + 1, 1 << 63, 1, 0x000FFFFF << 32),
    "e4m3": (0x7F, 0xFF, 0x80, 0x01, 0x81, 0x07, 0x7E),
    "e5m2": (0x7C, 0xFC, 0x7E, 0x7D, 0xFF, 0x80, 0x01, 0x83),
}


def special(kind: str, seed: int, nbytes: int = BYTES) -> Array:
    """Small whole numbers with an infinity, NaN, negative zero or subnormal here and there."""
    values = small(kind, seed, nbytes)
    if kind in INTEGERS:
        return values
    rng = np.random.default_rng(seed)
    width = {"f64": np.uint64, "f32": np.uint32, "tf32": np.uint32, "f16": np.uint16, "bf16": np.uint16}
    whole = values.view(width.get(kind, np.uint8))
    places = rng.choice(whole.size, whole.size // 24, replace=False)
    whole[places] = rng.choice(np.array(_SPECIAL[kind], whole.dtype), places.size)
    return whole.view(np.uint8)


def ragged(kind: str, seed: int, nbytes: int = BYTES) -> Array:
    """Small whole numbers; those in TF32 with bits in the 13 places that it leaves out."""
    values = small(kind, seed, nbytes)
    if kind == "tf32":
        words = values.view(np.uint32)
        words |= np.random.default_rng(seed).integers(0, 1 << 13, words.size, dtype=np.uint32)
    return values


def positive(values: Array, kind: str) -> Array:
    """The same without signs."""
    if kind in INTEGERS:
        return values
    nbytes = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    found = values.copy()
    found[nbytes - 1 :: nbytes] &= 0x7F
    return found
