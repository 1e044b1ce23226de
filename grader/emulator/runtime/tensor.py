"""Tensor Core products and the loads that feed them.

Products of halves are exact; a fragment's sum is formed in double precision and rounded once to the accumulator's
type. An H200 sums in single precision and truncates, so last bits may differ, as the PTX ISA allows.
"""

from __future__ import annotations

from typing import Any

from numba import float32, float64, int64, uint16, uint32

from grader.emulator.runtime.layout import LANES, OPERAND_BF16, OPERAND_F16
from grader.emulator.runtime.native import bits_to_float, float_to_half, half_to_float, pointer
from grader.emulator.runtime.options import native


@native
def _operand(bits: int, kind: int) -> float:
    """16 bits as the number they stand for."""
    if kind == OPERAND_BF16:
        return float64(bits_to_float(uint32(bits) << uint32(16)))
    return float64(half_to_float(uint16(bits)))


@native
def _unpack(source: int, register: int, lane: int, kind: int, target: Any, at: int, step: int) -> None:
    """The one or two elements of a lane's register, the second `step` places behind the first."""
    word = pointer(source, uint32)[register * LANES + lane]
    if kind in (OPERAND_F16, OPERAND_BF16):
        target[at] = _operand(word & 0xFFFF, kind)
        target[at + step] = _operand(word >> 16, kind)
    else:
        target[at] = float64(bits_to_float(uint32(word) & uint32(0xFFFFE000)))


@native
def _dense_a(a: int, kind: int, depth: int, dense: Any) -> None:
    """The 16 × depth operand A, row by row, from its fragment (PTX ISA, mma.m16n8k16 and its kin)."""
    packed = 1 if kind > OPERAND_BF16 else 2
    for lane in range(LANES):
        for register in range(depth // (2 * packed)):
            row = (lane >> 2) + 8 * (register & 1)
            column = (lane & 3) * packed + 4 * packed * (register >> 1)
            _unpack(a, register, lane, kind, dense, row * depth + column, 1)


@native
def _dense_b(b: int, kind: int, depth: int, dense: Any) -> None:
    """The depth × 8 operand B, row by row."""
    packed = 1 if kind > OPERAND_BF16 else 2
    for lane in range(LANES):
        for register in range(depth // (4 * packed)):
            row = (lane & 3) * packed + 4 * packed * register
            _unpack(b, register, lane, kind, dense, row * 8 + (lane >> 2), 8)


@native
def _accumulator(c: int, half: int, row: int, column: int) -> float:
    """Element (row, column) of a 16 × 8 accumulator fragment: pairs of columns, two registers a row."""
    lane = (row & 7) * 4 + (column >> 1)
    if half:
        word = pointer(c, uint32)[(row >> 3) * LANES + lane]
        return float64(half_to_float(uint16((word >> (16 * (column & 1))) & 0xFFFF)))
    return float64(pointer(c, float32)[(2 * (row >> 3) + (column & 1)) * LANES + lane])


@native
def _set_accumulator(d: int, half: int, row: int, column: int, value: float) -> None:
    lane = (row & 7) * 4 + (column >> 1)
    if half:
        place = 2 * ((row >> 3) * LANES + lane) + (column & 1)
        pointer(d, uint16)[place] = float_to_half(float32(value))
    else:
        pointer(d, float32)[(2 * (row >> 3) + (column & 1)) * LANES + lane] = float32(value)


@native
def _multiply(dense: Any, depth: int, c: int, c_half: int, d: int, d_half: int) -> None:
    """d = A·B + c, A in dense[0 …], B behind it."""
    second = 16 * depth
    sums = second + depth * 8
    for row in range(16):
        for column in range(8):
            dense[sums + column] = _accumulator(c, c_half, row, column)
        for k in range(depth):
            a = dense[row * depth + k]
            for column in range(8):
                dense[sums + column] += a * dense[second + k * 8 + column]
        for column in range(8):
            _set_accumulator(d, d_half, row, column, dense[sums + column])


@native
def mma(
    a: int, b: int, c: int, d: int, kind: int, depth: int, c_half: int, d_half: int, scratch: int
) -> None:
    """One m16n8k(depth) product of fragments; each argument points to registers of 32 lanes.

    `kind` is OPERAND_F16, OPERAND_BF16 or OPERAND_TF32; `scratch` has room for 16·16 + 16·8 + 8 doubles. c and d
    must not overlap.
    """
    dense = pointer(scratch, float64)
    _dense_a(a, kind, depth, dense)
    _dense_b(b, kind, depth, pointer(scratch + 16 * depth * 8, float64))
    _multiply(dense, depth, c, c_half, d, d_half)


@native
def _dense_square(fragment: int, kind: int, swap: int, dense: Any, width: int, first: int) -> None:
    """A 16 × 16 wmma operand as rows of `width` doubles, its columns from `first` on; `swap`: stored transposed."""
    source = pointer(fragment, uint32)
    for lane in range(LANES):
        for register in range(4):
            major = (lane >> 2) + 8 * (register & 1)
            minor = (lane & 3) * 2 + 8 * (register >> 1)
            word = source[register * LANES + lane]
            for k in range(2):
                value = _operand((word >> (16 * k)) & 0xFFFF, kind)
                row = minor + k if swap else major
                column = major if swap else minor + k
                if first <= column < first + width:
                    dense[row * width + column - first] = value


@native
def wmma(
    a: int, b: int, c: int, d: int, kind: int, a_column: int, b_column: int, c_half: int, d_half: int, scratch: int
) -> None:  # fmt: skip
    """One m16n16k16 product, as the two m16n8k16 products it is on the hardware.

    The operands' fragments hold what wmma.load brought, in memory order: `a_column`, `b_column` say that this is
    column by column. The accumulators of the two halves lie one behind the other.
    """
    dense = pointer(scratch, float64)
    registers = 2 if c_half else 4
    for half in range(2):
        _dense_square(a, kind, a_column, dense, int64(16), int64(0))
        _dense_square(b, kind, b_column, pointer(scratch + 256 * 8, float64), int64(8), int64(8 * half))
        distance = half * registers * LANES * 4
        target = half * (2 if d_half else 4) * LANES * 4
        _multiply(dense, int64(16), c + distance, c_half, d + target, d_half)


@native
def matrix_load(addresses: int, out: int, allowed: int, count: int, transposed: int) -> None:
    """ldmatrix: `count` matrices of 8 rows of 8 halves; lane i of group m gives the address of row i of matrix m.

    Rows of lanes that are not allowed read as zeros.
    """
    a = pointer(addresses, int64)
    o = pointer(out, uint16)
    for matrix in range(count):
        for row in range(8):
            provider = matrix * 8 + row
            source = pointer(a[provider], uint16)
            for column in range(8):
                value = uint16(0)
                if (allowed >> provider) & 1:
                    value = source[column]
                i = column if transposed else row
                j = row if transposed else column
                lane = i * 4 + (j >> 1)
                o[2 * (matrix * LANES + lane) + (j & 1)] = value


@native
def matrix_store(addresses: int, values: int, allowed: int, count: int, transposed: int) -> None:
    """stmatrix: the reverse of `matrix_load`."""
    a = pointer(addresses, int64)
    v = pointer(values, uint16)
    for matrix in range(count):
        for row in range(8):
            provider = matrix * 8 + row
            if not (allowed >> provider) & 1:
                continue
            target = pointer(a[provider], uint16)
            for column in range(8):
                i = column if transposed else row
                j = row if transposed else column
                target[column] = v[2 * (matrix * LANES + i * 4 + (j >> 1)) + (j & 1)]
