"""Moves data between host addresses, one a lane, and the vectors of the generated code.

A vector access of several elements a lane lies element by element: element k of lane i is at [k * 32 + i].
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint8, uint16, uint32, uint64

from grader.emulator.runtime.layout import FULL, LANES
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native

ELEMENTS = {1: uint8, 2: uint16, 4: uint32, 8: uint64}


def make_gather(element: Any, nbytes: int) -> Any:
    """Loads `count` elements a lane; lanes outside the mask get zeros."""

    @native
    def gather(addresses: int, out: int, mask: int, count: int) -> None:
        a = pointer(addresses, int64)
        o = pointer(out, element)
        for k in range(count):
            offset = k * nbytes
            if mask == FULL:
                for lane in range(LANES):
                    o[k * LANES + lane] = pointer(a[lane] + offset, element)[0]
            else:
                for lane in range(LANES):
                    if (mask >> lane) & 1:
                        o[k * LANES + lane] = pointer(a[lane] + offset, element)[0]
                    else:
                        o[k * LANES + lane] = 0

    return gather


def make_scatter(element: Any) -> Any:
    """Stores `count` elements a lane; where two lanes have one address, the higher lane wins."""

    @native
    def scatter(addresses: int, values: int, mask: int, count: int) -> None:
        a = pointer(addresses, int64)
        v = pointer(values, element)
        for lane in range(LANES):
            if (mask >> lane) & 1:
                p = pointer(a[lane], element)
                for k in range(count):
                    p[k] = v[k * LANES + lane]

    return scatter
