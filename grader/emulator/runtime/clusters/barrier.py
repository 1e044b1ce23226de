"""The barrier of a cluster, at which threads arrive and then wait (PTX ISA 9.7.13.4).

A phase is complete when all threads of all blocks have arrived that have not exited. Who waits then knows what all had
done when they arrived.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.peers import peer
from grader.emulator.runtime.layout import (  # fmt: skip
    AT_CLUSTER,
    CLOCK,
    CLUSTER,
    CLUSTER_SIZE,
    HELD_SLOTS,
    INTERVAL_READS,
    INTERVAL_WRITES,
    K_NOW,
    KNOWN_COUNT,
    LANES,
    LEFT,
    RANK,
    READS_BESIDE_WRITES,
    TRANSACTIONS,
    VISIT_SLOTS,
    W_CLUSTER,
    W_HELD,
    W_LIVE,
    W_SYNC_CLOCK,
    WAITER_SLOTS,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
    X_STEPS,
    X_WARPS,
    Y_BLOCKS,
    Y_PLACES,
    Y_SITES,
)
from grader.emulator.runtime.native import pointer, population
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity
from grader.emulator.runtime.races.knowledge import join, knowledge
from grader.emulator.runtime.spaces.shared_use import settle_interval

_STATES, _READS, _WRITES = map(HELD_SLOTS.index, (WARP_STATES, INTERVAL_READS, INTERVAL_WRITES))


@native
def begin_cluster(context: int) -> None:
    """For a cluster that begins: nobody has arrived, nobody has visited anybody."""
    c = pointer(context, int64)
    shared = pointer(c[CLUSTER], int64)
    for slot in range(K_NOW + (3 + c[CLUSTER_SIZE] * VISIT_SLOTS) * c[KNOWN_COUNT]):
        shared[slot] = 0


@native
def threads_apart(context: int) -> tuple[int, int]:
    """How many threads of the cluster have arrived in this phase, and how many have not exited."""
    c = pointer(context, int64)
    arrived, alive = int64(0), int64(0)
    for rank in range(c[CLUSTER_SIZE]):
        block = peer(context, int64(rank))
        if block[len(HELD_SLOTS)] == LEFT:
            continue
        for warp in range(c[WARPS]):
            w = pointer(block[_STATES] + warp * c[WARP_BYTES], int64)
            alive += population(w[W_LIVE])
            arrived += population(w[W_LIVE] & w[W_CLUSTER])
    return arrived, alive


@native
def settle_cluster(context: int) -> None:
    """Completes the phase if all have arrived."""
    c = pointer(context, int64)
    arrived, alive = threads_apart(context)
    if arrived < alive:
        return
    settle_interval(context)
    for rank in range(c[CLUSTER_SIZE]):
        block = peer(context, int64(rank))
        for warp in range(c[WARPS]):
            pointer(block[_STATES] + warp * c[WARP_BYTES], int64)[W_CLUSTER] = 0
        if rank != c[RANK]:
            c[READS_BESIDE_WRITES] += block[_READS] if block[_WRITES] else int64(0)
            block[_READS] = block[_WRITES] = 0
    shared = pointer(c[CLUSTER], int64)
    for who in range(c[KNOWN_COUNT]):
        shared[K_NOW + c[KNOWN_COUNT] + who] = shared[K_NOW + who]


@native
def cluster_arrive(context: int, mask: int, publishes: int) -> None:
    """Lanes of the running warp arrive; with `publishes` those who wait know what the warp has done."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    w[W_CLUSTER] |= mask
    if publishes:
        c[CLOCK] += 1
        now = c[CLUSTER] + K_NOW * 8
        join(context, now, knowledge(context, c[WARP]))
        pointer(now, int64)[identity(context)] = c[CLOCK]
    pointer(c[TRANSACTIONS], int64)[X_STEPS] += 1
    if w[W_CLUSTER] & w[W_LIVE] == w[W_LIVE]:
        settle_cluster(context)


@native
def cluster_passed(context: int, warp: int, lane: int) -> bool:
    """Whether the phase is complete in which a lane has arrived."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
    if (w[W_CLUSTER] >> lane) & 1:
        settle_cluster(context)
    return (w[W_CLUSTER] >> lane) & 1 == 0


@native
def cluster_hold(context: int, warp: int, block: int, site: int, mask: int, all_lanes: int) -> int:
    """In front of a wait that lanes in `mask` of `all_lanes` execute: 1 if they go on, 0 if all wait there."""
    c = pointer(context, int64)
    w = pointer(warp, int64)
    if mask & w[W_CLUSTER]:
        settle_cluster(context)
    if mask & w[W_CLUSTER] == 0:
        return int64(1)
    y = pointer(c[TRANSACTIONS] + (X_WARPS + c[WARP] * WAITER_SLOTS) * 8, int64)
    for lane in range(LANES):
        if (all_lanes >> lane) & 1:
            y[Y_SITES + lane] = site
            y[Y_BLOCKS + lane] = block
            y[Y_PLACES + lane] = int64(AT_CLUSTER) if (mask >> lane) & 1 else int64(-1)
    w[W_HELD] |= all_lanes
    return int64(0)


@native
def cluster_wait(context: int) -> None:
    """The running warp has passed the barrier."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    done = c[CLUSTER] + (K_NOW + c[KNOWN_COUNT]) * 8
    join(context, knowledge(context, c[WARP]), done)
    w[W_SYNC_CLOCK] = max(w[W_SYNC_CLOCK], pointer(done, int64)[identity(context)])
