"""Notes the first occurrence of each kind of finding at a site, and counts the others."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ABSENT,
    BLOCK_LINEAR,
    FINDING_ADDRESS,
    FINDING_BLOCK,
    FINDING_COUNT,
    FINDING_OTHER,
    FINDING_SLOTS,
    FINDING_THREAD,
    FINDINGS,
    HERE,
    RANK,
    RANK_AT,
    WARP,
    WARP_SHIFT,
)
from grader.emulator.runtime.native import pointer, trailing_zeros
from grader.emulator.runtime.options import native


@native
def note(context: int, site: int, kind: int, lane: int, address: int, other: int) -> None:
    """`other` is what the kind's FINDING_OTHER holds (layout.py). While a peer's shared memory stands in for the own,
    the address is one of that."""
    c = pointer(context, int64)
    f = pointer(site + (FINDINGS + kind * FINDING_SLOTS) * 8, int64)
    if f[FINDING_COUNT] == 0:
        if c[HERE] != c[RANK] and address >> RANK_AT == 0:
            address |= c[HERE] + 1 << RANK_AT
        f[FINDING_BLOCK] = c[BLOCK_LINEAR]
        f[FINDING_THREAD] = (c[WARP] << WARP_SHIFT) | lane
        f[FINDING_ADDRESS] = address
        f[FINDING_OTHER] = other
    f[FINDING_COUNT] += 1


@native
def note_undefined(context: int, site: int, kind: int, lanes: int) -> None:
    """Notes lanes in which a value shows that nobody has defined."""
    note(context, site, kind, trailing_zeros(lanes), int64(0), int64(0))


@native
def note_absent(context: int, site: int, absent: int, present: int) -> None:
    """Notes a warp instruction whose mask names lanes that are elsewhere; a mask of lanes each."""
    note(context, site, ABSENT, trailing_zeros(absent), int64(0), trailing_zeros(present))
