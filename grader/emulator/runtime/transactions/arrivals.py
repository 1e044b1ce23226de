"""Where a copy to shared memory begins: at an mbarrier, of the own block or of another one of its cluster."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.addresses import OFFSET, rank_in
from grader.emulator.runtime.clusters.peers import NOWHERE, come_back, reach
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import HERE, MISALIGNED, OUT_OF_BOUNDS, SHARED_BYTES
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.transactions.mbarriers import usable


@native
def begin_arrival(
    context: int, site: int, target: int, mbarrier: int, nbytes: int, align: int, lane: int
) -> int:
    """Visits the block that a copy goes to: the place there of its mbarrier, or NOWHERE with the visit at an end.
    Target and mbarrier belong to one block."""
    offset = reach(context, site, mbarrier, lane)
    if offset == NOWHERE:
        return offset
    c = pointer(context, int64)
    shared = target & OFFSET
    if usable(context, site, offset, lane) == 0:
        offset = int64(NOWHERE)
    elif shared & (align - 1):
        note(context, site, MISALIGNED, lane, target, align)
        offset = int64(NOWHERE)
    elif target < 0 or rank_in(context, target) != c[HERE] or shared + nbytes > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, target, nbytes)
        offset = int64(NOWHERE)
    if offset == NOWHERE:
        come_back(context)
    return offset
