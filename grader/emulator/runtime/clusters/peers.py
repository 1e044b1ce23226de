"""Access to the shared memory of another block of the cluster: that block's memory, with its shadow and its mbarriers,
stands in the context for the own, while the thread remains who it is.

Before the first access a thread has to know that the other block has begun, and that one has to know of all accesses
to it before it ends: a barrier of the cluster at both ends, or anything else that orders them.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.clusters.addresses import OFFSET, names_rank, rank_in
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    BLOCK_CLOCK,
    BLOCK_LINEAR,
    CLOCK,
    CLUSTER,
    CLUSTER_SIZE,
    ENDED,
    HELD_BYTES,
    HELD_SLOTS,
    HERE,
    K_NOW,
    KNOWN_COUNT,
    LEFT,
    LENIENT,
    NOT_BEGUN,
    OUT_OF_BOUNDS,
    RANK,
    RANK_SHIFT,
    RANK_WARPS,
    RESIDENT,
    RESIDENTS,
    TRANSACTIONS,
    VISIT_ADDRESS,
    VISIT_CLOCK,
    VISIT_LANE,
    VISIT_SITE,
    VISIT_SLOTS,
    VISITED,
    WARP,
    WARPS,
    WITH_WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity
from grader.emulator.runtime.races.knowledge import known, known_before

NOWHERE = -(1 << 62)
_CLOCK, _LINEAR, _TRANSACTIONS = map(HELD_SLOTS.index, (BLOCK_CLOCK, BLOCK_LINEAR, TRANSACTIONS))


@native
def held(context: int, place: int) -> Any:
    """What is kept of the block at a place of those under way, for its next turn; last NO_BLOCK, TAKEN or LEFT."""
    return pointer(pointer(context, int64)[RESIDENTS] + place * HELD_BYTES, int64)


@native
def peer(context: int, rank: int) -> Any:
    """The same of a block of the running cluster."""
    c = pointer(context, int64)
    return held(context, c[RESIDENT] - c[RANK] + rank)


@native
def transactions_of(context: int, rank: int) -> int:
    """The mbarriers and copies of a block of the cluster."""
    c = pointer(context, int64)
    return c[TRANSACTIONS] if rank == c[HERE] else peer(context, rank)[_TRANSACTIONS]


@native
def visit(context: int, rank: int) -> None:
    """Puts the shared memory of a block of the cluster in the place of the own."""
    c = pointer(context, int64)
    if rank == c[RANK]:
        return
    own, theirs = peer(context, c[RANK]), peer(context, rank)
    for place in VISITED:
        own[place] = c[HELD_SLOTS[place]]
        c[HELD_SLOTS[place]] = theirs[place]


@native
def come_back(context: int) -> None:
    """Puts the own shared memory in its place again."""
    c = pointer(context, int64)
    if c[HERE] == c[RANK]:
        return
    own, theirs = peer(context, c[RANK]), peer(context, c[HERE])
    for place in VISITED:
        theirs[place] = c[HELD_SLOTS[place]]
        c[HELD_SLOTS[place]] = own[place]


@native
def _last_visit(context: int, rank: int, visitor: int) -> Any:
    """The last access to the shared memory of a block, by another block's warp (its `identity`)."""
    c = pointer(context, int64)
    number = rank * c[KNOWN_COUNT] + visitor
    return pointer(c[CLUSTER] + (K_NOW + 3 * c[KNOWN_COUNT] + number * VISIT_SLOTS) * 8, int64)


@native
def _has_begun(context: int, rank: int) -> bool:
    """Whether the running warp knows that a block of the cluster has begun: something that it has done."""
    c = pointer(context, int64)
    latest = int64(0)
    for warp in range(c[WARPS]):
        latest = max(latest, known_before(context, (rank << RANK_SHIFT) + warp))
    return latest >= peer(context, rank)[_CLOCK]


@native
def reach(context: int, site: int, address: int, lane: int) -> int:
    """Goes to the block in whose shared memory an address lies. Returns the offset there, for an access that
    `come_back` ends; NOWHERE, and a finding, where there is none."""
    if not names_rank(context, address):
        return address
    c = pointer(context, int64)
    rank = rank_in(context, address)
    if rank >= c[CLUSTER_SIZE]:
        note(context, site, OUT_OF_BOUNDS, lane, address, int64(1))
        return int64(NOWHERE)
    if rank != c[RANK]:
        if peer(context, rank)[len(HELD_SLOTS)] == LEFT:
            note(context, site, ENDED, lane, address, int64(0))
            return int64(NOWHERE)
        if not _has_begun(context, rank):
            note(context, site, NOT_BEGUN, lane, address, int64(0))
        visit(context, rank)
    return address & OFFSET


@native
def enter(context: int, site: int, address: int, lane: int) -> int:
    """The same for an access that the block there has to know of before it ends, see `check_visitors`. Of a copy it
    knows by the wait for its mbarrier; one without a wait is still under way at the end, see `end_copies`."""
    offset = reach(context, site, address, lane)
    c = pointer(context, int64)
    if offset != NOWHERE and c[HERE] != c[RANK]:
        v = _last_visit(context, c[HERE], identity(context))
        v[VISIT_CLOCK], v[VISIT_SITE] = c[CLOCK], site
        v[VISIT_LANE], v[VISIT_ADDRESS] = lane, address
    return offset


@native
def note_for(context: int, site: int, kind: int, who: int, lane: int, address: int) -> None:
    """Notes what a warp of the cluster, by its `identity`, has done."""
    c = pointer(context, int64)
    linear, warp = c[BLOCK_LINEAR], c[WARP]
    if who >> RANK_SHIFT != c[RANK]:
        c[BLOCK_LINEAR] = peer(context, who >> RANK_SHIFT)[_LINEAR]
    c[WARP] = who & (RANK_WARPS - 1)
    note(context, site, kind, lane, address, int64(0))
    c[BLOCK_LINEAR], c[WARP] = linear, warp


@native
def check_visitors(context: int) -> None:
    """At the end of a block, when its first warp knows what all of them do: notes accesses to its shared memory that
    none of its threads knows to be done."""
    c = pointer(context, int64)
    if c[LENIENT] == WITH_WARPS:
        return
    knows = known(context, int64(0))
    for rank in range(c[CLUSTER_SIZE]):
        for warp in range(c[WARPS] if rank != c[RANK] else 0):
            who = (rank << RANK_SHIFT) + warp
            v = _last_visit(context, c[RANK], who)
            if v[VISIT_CLOCK] and v[VISIT_CLOCK] >= knows[who]:
                note_for(context, v[VISIT_SITE], ENDED, who, v[VISIT_LANE], v[VISIT_ADDRESS])
