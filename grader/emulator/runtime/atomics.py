"""Atomic operations of a warp, lane after lane in rising order: a fixed order, so that floats add up the same.

Kernels with atomics on global memory run their blocks on one thread (machine.py), so nothing here needs the
host's own atomics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32, int64, uint8, uint16, uint32, uint64

from grader.emulator.runtime.layout import (
    ATOM_ADD, ATOM_AND, ATOM_CAS, ATOM_DEC, ATOM_EXCH, ATOM_INC, ATOM_MAX_S, ATOM_MAX_U, ATOM_MIN_S, ATOM_MIN_U,
    ATOM_OR, ATOM_XOR, LANES,
)  # fmt: skip
from grader.emulator.runtime.native import (
    bits_to_double,
    bits_to_float,
    double_to_bits,
    float_to_bits,
    pointer,
)
from grader.emulator.runtime.options import native


@native
def _add_float32(a, b):
    return float_to_bits(float32(bits_to_float(a) + bits_to_float(b)))


@native
def _add_float64(a, b):
    return double_to_bits(bits_to_double(a) + bits_to_double(b))


@native
def _no_float16(a, b):
    return a


_ADD_FLOAT = {uint16: _no_float16, uint32: _add_float32, uint64: _add_float64}
_SIGNED = {uint16: np.int16, uint32: int32, uint64: int64}


def make_atomic(element: Any) -> Any:
    """The atomic of one width: old values to `out`; `second` is the swap value of a compare-and-swap."""
    add_float = _ADD_FLOAT[element]
    signed = _SIGNED[element]

    @native
    def combine(operation, old, value, second):
        if operation == ATOM_ADD:
            return element(old + value)
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
        if operation == ATOM_INC:
            return element(0) if old >= value else element(old + 1)
        if operation == ATOM_DEC:
            return value if old == 0 or old > value else element(old - 1)
        if operation == ATOM_MIN_U:
            return min(old, value)
        if operation == ATOM_MAX_U:
            return max(old, value)
        if operation == ATOM_MIN_S:
            return old if signed(old) < signed(value) else value
        if operation == ATOM_MAX_S:
            return old if signed(old) > signed(value) else value
        return add_float(old, value)

    @native
    def atomic(addresses, values, seconds, out, mask, operation):
        a = pointer(addresses, int64)
        v = pointer(values, element)
        w = pointer(seconds, element)
        o = pointer(out, element)
        for lane in range(LANES):
            if (mask >> lane) & 1:
                p = pointer(a[lane], element)
                old = p[0]
                p[0] = combine(operation, old, v[lane], w[lane])
                o[lane] = old

    return atomic


@native
def distinct_addresses(addresses, mask, scratch):
    """The mask of the first lane of each distinct address: what a warp-aggregated reduction touches."""
    a = pointer(addresses, int64)
    seen = pointer(scratch, uint8)
    kept = int64(0)
    for lane in range(LANES):
        seen[lane] = 0
        if not (mask >> lane) & 1:
            continue
        first = True
        for other in range(lane):
            if (mask >> other) & 1 and a[other] == a[lane]:
                first = False
        if first:
            kept |= int64(1) << lane
    return kept
