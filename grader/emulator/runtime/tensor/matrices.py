"""Loads and stores of 8 × 8 matrices: ldmatrix, stmatrix, and movmatrix between registers."""

from __future__ import annotations

from numba import int64, uint16

from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def matrix_transpose(source: int, out: int) -> None:
    """movmatrix: the transpose of one matrix, a row of which lies in the registers of four lanes."""
    s = pointer(source, uint16)
    o = pointer(out, uint16)
    for row in range(8):
        for column in range(8):
            o[8 * row + column] = s[8 * column + row]


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
