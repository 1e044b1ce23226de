"""Accesses to neighbouring granules of shared memory, of which none needs a closer look: what most requests are."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ANY_WARP,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    LANE_FIELD,
    NEVER,
    NO_SITE,
    SEVERAL,
    SHADOW_READS,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SITE_SHIFT,
    WARP_SHIFT,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def reader_after(read: int, me: int, lane: int, settled: int, synced: int) -> int:
    """The record of the last read after one more by `me` (an accessor) and `lane`.

    Readers that a later write could race with are kept apart only as far as it matters: one lane, several lanes
    of one warp, several warps. Of several warps the first one's site is kept: who writes has often read just before.
    """
    if read < settled:
        return me | lane
    if read >= NEVER << ACCESSOR_BITS:  # by a wgmma that is not finished
        return read
    if (read ^ me) & (ANY_WARP << WARP_SHIFT):
        first = (me & ~(NO_SITE << SITE_SHIFT)) | (read & (NO_SITE << SITE_SHIFT))
        return first | (ANY_WARP << WARP_SHIFT) | SEVERAL
    if read < synced or read & LANE_FIELD == lane:
        return me | lane
    return me | SEVERAL


@native
def run_of_loads(context: int, me: int, first: int, count: int, lane_shift: int, synchronised: int) -> bool:
    """Loads of `count` granules in a row, if none of them needs a closer look; lanes follow each other."""
    c = pointer(context, int64)
    start = first >> c[SHADOW_SHIFT]
    writes = pointer(c[SHADOW_WRITES] + start * 8, int64)
    reads = pointer(c[SHADOW_READS] + start * 8, int64)
    settled = c[BARRIER_CLOCK] << ACCESSOR_BITS
    written = c[BLOCK_CLOCK] << ACCESSOR_BITS
    synced = synchronised << ACCESSOR_BITS
    doubtful = int64(0)
    for i in range(count):
        doubtful |= (writes[i] - written) | (settled - 1 - writes[i])
    if doubtful < 0:
        return False
    for i in range(count):
        reads[i] = reader_after(reads[i], me, i >> lane_shift, settled, synced)
    return True


@native
def run_of_stores(context: int, me: int, first: int, count: int, lane_shift: int) -> bool:
    """Stores of `count` granules in a row, if none of them needs a closer look."""
    c = pointer(context, int64)
    start = first >> c[SHADOW_SHIFT]
    writes = pointer(c[SHADOW_WRITES] + start * 8, int64)
    reads = pointer(c[SHADOW_READS] + start * 8, int64)
    settled = c[BARRIER_CLOCK] << ACCESSOR_BITS
    doubtful = int64(0)
    for i in range(count):
        doubtful |= (settled - 1 - writes[i]) | (settled - 1 - reads[i])
    if doubtful < 0:
        return False
    for i in range(count):
        writes[i] = me | (i >> lane_shift)
    return True
