"""Operands of Tensor Cores for tests: elements as bits, and where each lies in the registers of a warp.

Written from the figures of the PTX ISA, from the element to its place; the emulator goes the other way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "f64": 64,
}
INTEGERS = ("s8", "u8", "s4", "u4", "b1")


def fp8_values(kind: str) -> Array:
    """The numbers that the 256 codes of e4m3 or e5m2 stand for (OCP 8-bit floating point specification)."""
    mantissa, bias = (3, 7) if kind == "e4m3" else (2, 15)
    values = np.empty(256)
    for code in range(256):
        exponent, fraction = (
            code >> mantissa & (1 << 7 - mantissa) - 1,
            (code & (1 << mantissa) - 1) / (1 << mantissa),
        )
        size = (1 + fraction) * 2.0 ** (exponent - bias) if exponent else fraction * 2.0 ** (1 - bias)
        if kind == "e4m3" and code & 0x7F == 0x7F:
            size = np.nan
        if kind == "e5m2" and code & 0x7C == 0x7C:
            size = np.nan if code & 3 else np.inf
        values[code] = -size if code & 0x80 else size
    return values


def encoded(values: Array, kind: str) -> Array:
    """The bits of numbers that the type has exactly, as uint64."""
    if kind in ("e4m3", "e5m2"):
        table = fp8_values(kind)
        codes = {float(value): code for code, value in enumerate(table) if np.isfinite(value)}
        return np.array([codes[float(v)] for v in values.ravel()], np.uint64).reshape(values.shape)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint64)
    if kind == "tf32":
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)
    if kind == "f64":
        return values.astype(np.float64).view(np.uint64)
    return (values.astype(np.int64) % (1 << BITS[kind])).astype(np.uint64)


def random_values(kind: str, shape: tuple[int, int], seed: int) -> Array:
    """Numbers of the type, as float64: of integers any, of floats small integers, of FP8 any that is finite."""
    rng = np.random.default_rng(seed)
    if kind in ("e4m3", "e5m2"):
        values = fp8_values(kind)
        return rng.choice(values[np.isfinite(values)], shape)
    bits = BITS[kind]
    if kind in INTEGERS:
        low, high = (-(1 << bits - 1), 1 << bits - 1) if kind[0] == "s" else (0, 1 << bits)
        return rng.integers(low, high, shape).astype(np.float64)
    return rng.integers(-8, 9, shape).astype(np.float64)


def operand(values: Array, kind: str) -> Array:
    """Registers × lanes of an operand whose rows lie along k: A as it is, B transposed."""
    bits = BITS[kind]
    packed = max(32 // bits, 1)
    rows, depth = values.shape
    registers = np.zeros((rows // 8 * depth // (4 * packed), 32), np.uint64)
    for (row, k), code in np.ndenumerate(encoded(values, kind)):
        word, position = divmod(k, packed)
        register = row // 8 + rows // 8 * (word // 4)
        registers[register, row % 8 * 4 + word % 4] |= np.uint64(int(code) << position * bits)
    return registers.astype(np.uint64 if bits == 64 else np.uint32)


def sums(values: Array, kind: str) -> Array:
    """Registers × lanes of an accumulator: of each 8 × 8 piece, two neighbouring columns a lane; pieces one below the
    other, then side by side. Two halves share a register."""
    dtype = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}[kind]
    rows, columns = values.shape
    elements = np.zeros((rows * columns // 32, 32), dtype)
    for (row, column), value in np.ndenumerate(values):
        piece = row // 8 + rows // 8 * (column // 8)
        elements[2 * piece + column % 2, row % 8 * 4 + column % 8 // 2] = value
    if kind == "f16":
        pairs = elements.reshape(-1, 2, 32).transpose(0, 2, 1)
        return np.ascontiguousarray(pairs).view(np.uint32).reshape(-1, 32)
    return elements.view(np.uint64 if kind == "f64" else np.uint32)
