"""How a block uses its shared memory: how much of it is read, and whether it is written meanwhile."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ASYNC,
    ASYNC_WARP_BYTES,
    BLOCK_CLOCK,
    BULK_BESIDE,
    BULK_BESIDE_READS,
    BULK_LOADS,
    BULK_READS,
    COMBINED,
    COPIES,
    COPIES_BESIDE_READS,
    INTERVAL_READS,
    INTERVAL_WRITES,
    LANE_FIELD,
    LOAD,
    Q_BESIDE,
    Q_DONE,
    Q_READS,
    Q_UNDER_WAY,
    READS_BESIDE_WRITES,
    SHADOW_READS,
    SHADOW_WRITES,
    STRONG_LOAD,
    TRANSACTIONS,
    UPDATED,
    WARP,
    WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def settle_interval(context: int) -> None:
    """The whole block meets, at whatever barrier: counts the reads of the interval that has ended."""
    c = pointer(context, int64)
    if c[INTERVAL_WRITES]:
        c[READS_BESIDE_WRITES] += c[INTERVAL_READS]
    c[INTERVAL_READS] = c[INTERVAL_WRITES] = 0


@native
def settle_copies(context: int) -> None:
    """At the end of a block, counts the copies that its warps have not just waited for: of each warp's as large a share
    as of its reads, so many as were made while copies were under way. A warp that reads nothing copies for others;
    whether these read meanwhile is told by the intervals. Of bulk copies, which one thread asks for, as large a share
    as of the block's reads."""
    c = pointer(context, int64)
    if c[BULK_READS]:
        c[BULK_BESIDE_READS] += c[BULK_LOADS] * c[BULK_BESIDE] // c[BULK_READS]
    for warp in range(c[WARPS] if c[ASYNC] else 0):
        q = pointer(c[ASYNC] + warp * ASYNC_WARP_BYTES, int64)
        c[COPIES_BESIDE_READS] += q[Q_DONE] * q[Q_BESIDE] // q[Q_READS] if q[Q_READS] else q[Q_DONE]


@native
def note_use(context: int, kind: int) -> None:
    """Takes note of a request, to tell tiles that come while others are read from those that come in between."""
    c = pointer(context, int64)
    reads = kind in (LOAD, STRONG_LOAD)
    note_interval(context, reads)
    if reads and c[ASYNC]:
        q = pointer(c[ASYNC] + c[WARP] * ASYNC_WARP_BYTES, int64)
        q[Q_READS] += 1
        q[Q_BESIDE] += q[Q_UNDER_WAY] > 0
    if reads and c[TRANSACTIONS]:
        c[BULK_READS] += 1
        c[BULK_BESIDE] += c[COPIES] > 0


@native
def note_interval(context: int, reads: bool) -> None:
    """The same of what a bulk copy reads or writes, which is no thread's work."""
    c = pointer(context, int64)
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
        updated = writes[index] >= begun and writes[index] & LANE_FIELD in (COMBINED, UPDATED)
        used += int64(reads[index] >= begun or updated)
    return used
