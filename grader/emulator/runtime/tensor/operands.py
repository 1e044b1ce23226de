"""The elements of fragments as doubles, and back (forms.py says how they lie)."""

from __future__ import annotations

from typing import Any

from numba import float32, float64, int32, int64, uint16, uint32

from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.native import bits_to_float, float_to_half, half_to_float, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.tensor.forms import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F64,
    S4,
    S8,
    SUM_F16,
    SUM_F32,
    SUM_F64,
    SUM_S32_SATURATED,
    TF32,
    U4,
    U8,
)

TF32_BITS = 0xFFFFE000
"""What TF32 keeps of a single."""


@native
def packed_in(kind: int) -> int:
    """How many elements lie in a register."""
    if kind in (F16, BF16):
        return int64(2)
    if kind in (TF32, F64):
        return int64(1)
    return int64(8 if kind in (S4, U4) else 4)


@native
def element(word: int, kind: int, index: int) -> float:
    """Element `index` of a 32-bit register. TF32 ignores the low 13 bits of its single."""
    if kind == F16:
        return float64(half_to_float(uint16(word >> 16 * index & 0xFFFF)))
    if kind == BF16:
        return float64(bits_to_float(uint32((word >> 16 * index & 0xFFFF) << 16)))
    if kind == TF32:
        return float64(bits_to_float(uint32(word & TF32_BITS)))
    field = word >> 8 * index & 0xFF
    if kind == S8:
        return float64(field - ((field & 0x80) << 1))
    if kind == U8:
        return float64(field)
    if kind == E5M2:  # the upper half of a half
        return float64(half_to_float(uint16(field << 8)))
    if kind == E4M3:  # as a half, 2^8 times too small, for its exponent's bias is 7 instead of 15
        if field & 0x7F == 0x7F:
            return float64(half_to_float(uint16(0x7E00)))
        return 256.0 * float64(half_to_float(uint16((field & 0x80) << 8 | (field & 0x7F) << 7)))
    nibble = word >> 4 * index & 0xF
    return float64(nibble - ((nibble & 8) << 1)) if kind == S4 else float64(nibble)


@native
def pair(word: int, kind: int, target: Any, at: int, step: int) -> None:
    """The two elements of a register of halves or BF16."""
    target[at] = element(word, kind, int64(0))
    target[at + step] = element(word, kind, int64(1))


@native
def unpack(source: int, register: int, lane: int, kind: int, target: Any, at: int, step: int) -> None:
    """The elements of a lane's register, each `step` places behind the one before."""
    if kind == F64:
        target[at] = pointer(source, float64)[register * LANES + lane]
        return
    word = int64(pointer(source, uint32)[register * LANES + lane])
    for index in range(packed_in(kind)):
        target[at + index * step] = element(word, kind, int64(index))


@native
def dense_a(a: int, kind: int, rows: int, depth: int, dense: Any) -> None:
    """The rows × depth operand A, row by row, from its fragment."""
    packed = packed_in(kind)
    words = pointer(a, uint32)
    below = rows >> 3
    for register in range(rows * depth // (LANES * packed)):
        first = register % below * 8 * depth + register // below * 4 * packed
        for lane in range(LANES):
            at = first + (lane >> 2) * depth + (lane & 3) * packed
            if kind == F16:
                pair(int64(words[register * LANES + lane]), int64(F16), dense, at, int64(1))
            elif kind == BF16:
                pair(int64(words[register * LANES + lane]), int64(BF16), dense, at, int64(1))
            else:
                unpack(a, register, lane, kind, dense, at, int64(1))


@native
def dense_b(b: int, kind: int, depth: int, dense: Any) -> None:
    """The depth × 8 operand B, row by row."""
    packed = packed_in(kind)
    words = pointer(b, uint32)
    for register in range(depth // (4 * packed)):
        for lane in range(LANES):
            at = ((lane & 3) + 4 * register) * packed * 8 + (lane >> 2)
            if kind == F16:
                pair(int64(words[register * LANES + lane]), int64(F16), dense, at, int64(8))
            elif kind == BF16:
                pair(int64(words[register * LANES + lane]), int64(BF16), dense, at, int64(8))
            else:
                unpack(b, register, lane, kind, dense, at, int64(8))


@native
def accumulator(c: int, kind: int, row: int, column: int) -> float:
    """Element (row, column) of an accumulator of 8 columns: pairs of columns a lane, in two registers or, of halves, in
    one."""
    lane = (row & 7) * 4 + (column >> 1)
    if kind == SUM_F16:
        word = pointer(c, uint32)[(row >> 3) * LANES + lane]
        return float64(half_to_float(uint16((word >> (16 * (column & 1))) & 0xFFFF)))
    place = (2 * (row >> 3) + (column & 1)) * LANES + lane
    if kind == SUM_F32:
        return float64(pointer(c, float32)[place])
    if kind == SUM_F64:
        return float64(pointer(c, float64)[place])
    return float64(pointer(c, int32)[place])


NAN_F16, NAN_F32 = 0x7FFF, 0x7FFFFFFF
"""The bits of every NaN among the sums of an H200's Tensor Cores."""


@native
def set_accumulator(d: int, kind: int, row: int, column: int, value: float) -> None:
    """Rounds a sum to its type; integers wrap around, or stop at the type's limits."""
    lane = (row & 7) * 4 + (column >> 1)
    if kind == SUM_F16:
        place = 2 * ((row >> 3) * LANES + lane) + (column & 1)
        pointer(d, uint16)[place] = uint16(NAN_F16) if value != value else float_to_half(float32(value))
        return
    place = (2 * (row >> 3) + (column & 1)) * LANES + lane
    if kind == SUM_F32 and value != value:
        pointer(d, uint32)[place] = uint32(NAN_F32)
    elif kind == SUM_F32:
        pointer(d, float32)[place] = float32(value)
    elif kind == SUM_F64:
        pointer(d, float64)[place] = value
    else:
        whole = int64(value)
        if kind == SUM_S32_SATURATED:
            whole = min(max(whole, int64(-0x80000000)), int64(0x7FFFFFFF))
        pointer(d, int32)[place] = int32(whole)


@native
def accumulator_bytes(kind: int, rows: int) -> int:
    """What an accumulator of `rows` rows and 8 columns takes, in all lanes together."""
    width = 2 if kind == SUM_F16 else 8 if kind == SUM_F64 else 4
    return int64(rows * 8 * width)
