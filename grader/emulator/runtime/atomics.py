"""Atomic operations of a warp, lane after lane in rising order: a fixed order, so that floats add up the same.

Sums of floats in global memory flush subnormals, numbers and results, to zeros of their sign; in shared memory they do
not (PTX ISA, `atom`: so does the hardware).

Kernels with atomics on global memory run their blocks on one thread (machine.py), so nothing here needs the
host's own atomics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32, int64, uint16, uint32, uint64

from grader.emulator.runtime.layout import (  # fmt: skip
    ARENA_BYTES,
    ATOM_ADD,
    ATOM_ADD_BFLOATS,
    ATOM_ADD_F,
    ATOM_ADD_FTZ,
    ATOM_ADD_HALVES,
    ATOM_AND,
    ATOM_CAS,
    ATOM_DEC,
    ATOM_EXCH,
    ATOM_INC,
    ATOM_MAX_U,
    ATOM_MIN_S,
    ATOM_MIN_U,
    ATOM_OR,
    ATOM_XOR,
    GLOBAL_BASE,
    HOST_DELTA,
    LANES,
)
from grader.emulator.runtime.native import (
    bits_to_double,
    bits_to_float,
    double_to_bits,
    float_to_bits,
    float_to_half,
    half_to_float,
    pointer,
)
from grader.emulator.runtime.options import native


@native
def _add_float32(a: int, b: int) -> int:
    return float_to_bits(float32(bits_to_float(a) + bits_to_float(b)))


@native
def _flushed(bits: int) -> int:
    return bits if bits & uint32(0x7F800000) else bits & uint32(0x80000000)


@native
def _add_flushed(a: int, b: int) -> int:
    return _flushed(_add_float32(_flushed(a), _flushed(b)))


@native
def _add_float64(a: int, b: int) -> int:
    return double_to_bits(bits_to_double(a) + bits_to_double(b))


@native
def _no_float(a: int, b: int) -> int:
    return a


@native
def _add_half(a: int, b: int) -> int:
    return float_to_half(float32(half_to_float(a) + half_to_float(b)))


@native
def _add_halves(a: int, b: int) -> int:
    low = _add_half(uint16(a), uint16(b))
    high = _add_half(uint16(a >> uint32(16)), uint16(b >> uint32(16)))
    return uint32(low) | uint32(high) << uint32(16)


@native
def _add_bfloat(a: int, b: int) -> int:
    """Rounded to nearest even, from a single: of numbers of 8 digits, rounding twice is the same as once."""
    total = float_to_bits(
        float32(bits_to_float(uint32(a) << uint32(16)) + bits_to_float(uint32(b) << uint32(16)))
    )
    if total & uint32(0x7FFFFFFF) > uint32(0x7F800000):
        return uint16(0x7FFF)
    odd = total >> uint32(16) & uint32(1)
    return uint16((total + odd + uint32(0x7FFF)) >> uint32(16))


@native
def _add_bfloats(a: int, b: int) -> int:
    low = _add_bfloat(uint16(a), uint16(b))
    high = _add_bfloat(uint16(a >> uint32(16)), uint16(b >> uint32(16)))
    return uint32(low) | uint32(high) << uint32(16)


_ADD_HALVES = {uint16: _add_half, uint32: _add_halves, uint64: _no_float}
_ADD_BFLOATS = {uint16: _add_bfloat, uint32: _add_bfloats, uint64: _no_float}
_ADD_FLOAT = {uint16: _no_float, uint32: _add_float32, uint64: _add_float64}
_ADD_FLUSHED = {uint16: _no_float, uint32: _add_flushed, uint64: _no_float}
_SIGNED = {uint16: np.int16, uint32: int32, uint64: int64}


def make_extreme(element: Any) -> Any:
    """Minimum and maximum of one width, signed or not."""
    signed = _SIGNED[element]

    @native
    def extreme(operation: int, old: int, value: int) -> int:
        if operation == ATOM_MIN_U:
            return min(old, value)
        if operation == ATOM_MAX_U:
            return max(old, value)
        if operation == ATOM_MIN_S:
            return old if signed(old) < signed(value) else value
        return old if signed(old) > signed(value) else value

    return extreme


def make_count(element: Any) -> Any:
    """atomicInc and atomicDec, which wrap around at `value`, and the sum."""

    @native
    def count(operation: int, old: int, value: int) -> int:
        if operation == ATOM_INC:
            return element(0) if old >= value else element(old + 1)
        if operation == ATOM_DEC:
            return value if old == 0 or old > value else element(old - 1)
        return element(old + value)

    return count


def make_combine(element: Any) -> Any:
    """What one lane leaves in memory."""
    add_float, add_flushed = _ADD_FLOAT[element], _ADD_FLUSHED[element]
    add_halves, add_bfloats = _ADD_HALVES[element], _ADD_BFLOATS[element]
    extreme, count = make_extreme(element), make_count(element)

    @native
    def combine(operation: int, old: int, value: int, second: int) -> int:
        if operation == ATOM_AND:
            return old & value
        if operation == ATOM_OR:
            return old | value
        if operation == ATOM_XOR:
            return old ^ value
        if operation == ATOM_EXCH:
            return value
        if operation == ATOM_CAS:
            return second if old == value else old
        if operation == ATOM_ADD_F:
            return add_float(old, value)
        if operation == ATOM_ADD_FTZ:
            return add_flushed(old, value)
        if operation == ATOM_ADD_HALVES:
            return add_halves(old, value)
        if operation == ATOM_ADD_BFLOATS:
            return add_bfloats(old, value)
        if operation in (ATOM_ADD, ATOM_INC, ATOM_DEC):
            return count(operation, old, value)
        return extreme(operation, old, value)

    return combine


@native
def lanes_in_global(context: int, addresses: int, mask: int) -> int:
    """Those of some lanes whose host addresses lie in global memory."""
    c, a = pointer(context, int64), pointer(addresses, int64)
    first = c[HOST_DELTA] + GLOBAL_BASE
    found = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and first <= a[lane] < first + c[ARENA_BYTES]:
            found |= int64(1) << lane
    return found


def make_atomic(element: Any) -> Any:
    """The atomic of one width: old values to `out`; `second` is the swap value of a compare-and-swap. It returns how
    many lanes changed what memory held."""
    combine = make_combine(element)

    @native
    def atomic(addresses: int, values: int, seconds: int, out: int, mask: int, operation: int) -> int:
        a = pointer(addresses, int64)
        v = pointer(values, element)
        w = pointer(seconds, element)
        o = pointer(out, element)
        changed = int64(0)
        for lane in range(LANES):
            if (mask >> lane) & 1:
                p = pointer(a[lane], element)
                old = p[0]
                p[0] = combine(operation, old, v[lane], w[lane])
                changed += int64(p[0] != old)
                o[lane] = old
        return changed

    return atomic
