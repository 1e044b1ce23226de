"""The products of mma.sync and wmma.

Products of halves and all narrower types are exact; a fragment's sum is formed in double precision, in the order of k,
and rounded once to the accumulator's type. An H200 aligns the terms to the largest, keeps 25 bits behind its leading
one and truncates, so last bits may differ, as the PTX ISA allows. Sums of integers are exact. Doubles are added up by
fused multiply-adds in the order of k.
"""

from __future__ import annotations

from typing import Any

from numba import float64, int32, int64, uint32

from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.native import fused, pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.tensor.forms import F16, F64, SUM_F32
from grader.emulator.runtime.tensor.operands import (
    accumulator,
    accumulator_bytes,
    dense_a,
    dense_b,
    packed_in,
    pair,
    set_accumulator,
    unpack,
)
from grader.emulator.runtime.tensor.vectors import ROWS, add_products


@native
def multiply(left: int, right: int, rows: int, depth: int, c: int, c_kind: int, d: int, d_kind: int) -> None:
    """d = A · B + c for 8 columns; `left` is rows × depth doubles, `right` depth × 8 and room for 8. d may be c."""
    if c_kind == SUM_F32 and d_kind == SUM_F32:
        for row in range(0, rows, ROWS):
            first = ((row >> 3) * 2 * LANES + (row & 7) * 4) * 4
            add_products(left + row * depth * 8, right, depth, c + first, d + first)
        return
    a = pointer(left, float64)
    b = pointer(right, float64)
    sums = depth * 8
    for row in range(rows):
        for column in range(8):
            b[sums + column] = accumulator(c, c_kind, row, column)
        for k in range(depth):
            factor = a[row * depth + k]
            for column in range(8):
                b[sums + column] += factor * b[k * 8 + column]
        for column in range(8):
            set_accumulator(d, d_kind, row, column, b[sums + column])


@native
def _multiply_doubles(left: int, right: int, rows: int, depth: int, c: int, d: int, kind: int) -> None:
    a, b = pointer(left, float64), pointer(right, float64)
    for row in range(rows):
        for column in range(8):
            total = accumulator(c, kind, row, column)
            for k in range(depth):
                total = fused(a[row * depth + k], b[8 * k + column], total)
            set_accumulator(d, kind, row, column, total)


@native
def mma(
    a: int, b: int, c: int, d: int, a_kind: int, b_kind: int, rows: int, depth: int, c_kind: int, d_kind: int,
    scratch: int,
) -> None:  # fmt: skip
    """One product of `rows` rows and 8 columns from fragments; each argument points to registers of 32 lanes.

    The kinds are forms.F16 and so on; `scratch` has room for (rows + 8) · depth + 8 doubles. c and d must not overlap.
    """
    right = scratch + rows * depth * 8
    dense_a(a, a_kind, rows, depth, pointer(scratch, float64))
    dense_b(b, b_kind, depth, pointer(right, float64))
    if a_kind == F64:
        _multiply_doubles(scratch, right, rows, depth, c, d, d_kind)
    else:
        multiply(scratch, right, rows, depth, c, c_kind, d, d_kind)


@native
def mma_bits(a: int, b: int, c: int, d: int, rows: int, depth: int, differ: int) -> None:
    """A product of bits: for each sum, how many of `depth` pairs are both set, or differ."""
    left, right = pointer(a, uint32), pointer(b, uint32)
    start, target = pointer(c, int32), pointer(d, int32)
    below = rows >> 3
    for row in range(rows):
        for column in range(8):
            place = (2 * (row >> 3) + (column & 1)) * LANES + (row & 7) * 4 + (column >> 1)
            total = int64(start[place])
            for piece in range(depth // 32):
                register, thread = piece >> 2, piece & 3
                one = int64(left[(register * below + (row >> 3)) * LANES + (row & 7) * 4 + thread])
                other = int64(right[register * LANES + column * 4 + thread])
                total += population(one ^ other if differ else one & other)
            target[place] = int32(total)


@native
def _dense_matrix(
    fragment: int, kind: int, majors: int, minors: int, swap: int, dense: Any, width: int, first: int
) -> None:
    """A matrix that wmma.load brought (forms.Spread), as rows of `width` doubles, its columns from `first` on.

    `swap`: its majors are columns.
    """
    packed = packed_in(kind)
    across = max(min(4, minors // packed), LANES // majors)
    down = LANES // across
    below = majors // down
    shift = trailing_zeros(across)
    step = width if swap else int64(1)
    words = pointer(fragment, uint32)
    for register in range(majors * minors // (LANES * packed)):
        first_major, first_minor = down * (register % below), across * (register // below)
        for lane in range(LANES):
            major = (lane >> shift) + first_major
            minor = ((lane & across - 1) + first_minor) * packed
            row, column = (minor, major) if swap else (major, minor)
            if first <= column < first + width:
                at = row * width + column - first
                if kind == F16:
                    pair(int64(words[register * LANES + lane]), int64(F16), dense, at, step)
                else:
                    unpack(fragment, register, lane, kind, dense, at, step)


@native
def wmma(
    a: int, b: int, c: int, d: int, kind: int, m: int, n: int, k: int, a_column: int, b_column: int,
    c_kind: int, d_kind: int, scratch: int,
) -> None:  # fmt: skip
    """One m × n × k product, 8 columns at a time.

    The operands' fragments hold what wmma.load brought, in memory order: `a_column`, `b_column` say that this is
    column by column. The accumulators of each 8 columns lie one behind the other.
    """
    right = scratch + m * k * 8
    a_majors, a_minors = (k, m) if a_column else (m, k)
    b_majors, b_minors = (n, k) if b_column else (k, n)
    _dense_matrix(a, kind, a_majors, a_minors, a_column, pointer(scratch, float64), k, int64(0))
    for block in range(n // 8):
        _dense_matrix(
            b, kind, b_majors, b_minors, b_column, pointer(right, float64), int64(8), int64(8 * block)
        )
        start = c + block * accumulator_bytes(c_kind, m)
        target = d + block * accumulator_bytes(d_kind, m)
        if kind == F64:
            _multiply_doubles(scratch, right, m, k, start, target, d_kind)
        else:
            multiply(scratch, right, m, k, start, c_kind, target, d_kind)
