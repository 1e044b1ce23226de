"""How a block uses its shared memory: how much of it is read, and whether it is written meanwhile."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    COPIES,
    INTERVAL,
    INTERVAL_READS,
    INTERVAL_WRITES,
    LANE_FIELD,
    LOAD,
    READS_BESIDE_WRITES,
    SHADOW_READS,
    SHADOW_WRITES,
    STRONG_LOAD,
    UPDATED,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def settle_interval(context: int) -> None:
    """Counts the reads of the interval that has ended."""
    c = pointer(context, int64)
    if c[INTERVAL_WRITES]:
        c[READS_BESIDE_WRITES] += c[INTERVAL_READS]
    c[INTERVAL_READS] = c[INTERVAL_WRITES] = 0


@native
def note_use(context: int, kind: int) -> None:
    """Takes note of a request, to tell tiles that come while others are read from those that come in between."""
    c = pointer(context, int64)
    if c[INTERVAL] != c[BARRIER_CLOCK]:
        settle_interval(context)
        c[INTERVAL] = c[BARRIER_CLOCK]
    reads = kind in (LOAD, STRONG_LOAD)
    c[INTERVAL_READS] += reads
    c[INTERVAL_WRITES] += not reads or c[COPIES] > 0


@native
def granules_used(context: int, count: int) -> int:
    """How many of the first granules of shared memory the block has read, or updated by what others see at once."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    reads = pointer(c[SHADOW_READS], int64)
    begun = c[BLOCK_CLOCK] << ACCESSOR_BITS
    used = int64(0)
    for index in range(count):
        updated = writes[index] >= begun and writes[index] & LANE_FIELD == UPDATED
        used += int64(reads[index] >= begun or updated)
    return used
