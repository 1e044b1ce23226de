"""Happens-before (PTX ISA 8.8 to 8.10): which earlier accesses the running warp knows to be done.

Threads are ordered by the barriers that they take part in, lanes of a warp by __syncwarp too (lanes.py). Beyond that,
what a thread did before a fence is published by its next strong store or atomic at that address (a release pattern),
and known to every thread that reads it there by a strong load or an atomic, and to those that a barrier then orders
behind it. A strong read is taken to acquire at once, as kernels rely on that spin on a flag and then pass a barrier;
PTX asks for a fence.

As in FastTrack (Flanagan and Freund, PLDI 2009), what a thread knows is a time for each other one, up to which it knows
all that this one did. Here it is one for each warp, and within a block the time of the last barrier of all its threads
stands for all.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint32

from grader.emulator.runtime.layout import (  # fmt: skip
    ATOMIC,
    BARRIER_CLOCK,
    BLOCK_FENCES,
    BLOCK_LINEAR,
    BLOCK_NUMBERS,
    BLOCK_VECTOR,
    CLOCK,
    CLUSTER,
    CLUSTER_SIZE,
    FREE_COUNT,
    FREE_VECTORS,
    GLOBAL_BASE,
    K_NOW,
    KNOWN_COUNT,
    LANE_FIELD,
    LANES,
    LAUNCH_CLOCK,
    LENIENT,
    MOST_TIME,
    RANK,
    RANK_SHIFT,
    RECORD_BLOCK,
    RECORD_TIME,
    RECORD_WARPS,
    RESIDENT,
    SEVERAL,
    SHARED_WINDOW,
    STRONG_LOAD,
    STRONG_STORE,
    SYNC_ENTRIES,
    SYNC_ENTRY,
    SYNC_TABLE,
    V_BLOCK,
    V_KEY,
    V_PATH,
    V_VECTOR,
    V_VERSION,
    V_WARPS,
    VECTOR_COUNT,
    VECTOR_LENGTH,
    VECTOR_MOST,
    VECTORS,
    W_ACQUIRED,
    W_ACQUIRED_VERSION,
    W_BLOCK_FENCE,
    W_BLOCK_FENCE_BARRIER,
    W_FENCE,
    W_FENCE_BARRIER,
    W_SYNC_CLOCK,
    W_VECTOR,
    WARP,
    WARP_BYTES,
    WARP_SHIFT,
    WARP_STATES,
    WARPS,
    WITH_WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.knowledge import join, knowledge, known, known_before, rank_of, tell_all
from grader.emulator.runtime.races.lanes import known_of_lanes
from grader.emulator.runtime.races.paths import path, wait_for


@native
def sync_clock(context: int) -> int:
    """When the running warp's lanes were last ordered among themselves."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    return max(w[W_SYNC_CLOCK], c[BARRIER_CLOCK])


@native
def recorded(context: int, lane: int) -> int:
    """The record of an access by the running warp now."""
    c = pointer(context, int64)
    time = min(c[CLOCK] - c[LAUNCH_CLOCK], int64(MOST_TIME))
    block = c[BLOCK_LINEAR] & (BLOCK_NUMBERS - 1)
    return (time << RECORD_TIME) | (block << RECORD_BLOCK) | (c[WARP] << WARP_SHIFT) | lane


@native
def ordered(context: int, record: int, lane: int, synchronised: int) -> bool:
    """Whether the running warp's lane knows that a recorded access is done; its lanes were `synchronised` last at that
    CLOCK. SEVERAL lanes are none of them."""
    c = pointer(context, int64)
    time = record >> RECORD_TIME
    if record == 0 or time == MOST_TIME:
        return True
    block = (record >> RECORD_BLOCK) & (BLOCK_NUMBERS - 1)
    warp = (record >> WARP_SHIFT) & (RECORD_WARPS - 1)
    clock = time + c[LAUNCH_CLOCK]
    if block != c[BLOCK_LINEAR] & (BLOCK_NUMBERS - 1):
        rank = rank_of(context, block) if c[CLUSTER_SIZE] > 1 else int64(-1)
        if rank >= 0 and clock < known_before(context, (rank << RANK_SHIFT) + warp):
            return True
        return c[LENIENT] != 0 or time < _learnt(context, block, warp)
    if warp == c[WARP]:
        other = record & LANE_FIELD
        own = other == lane and lane != SEVERAL
        return own or clock < synchronised or clock < known_of_lanes(context, lane, other)
    return clock < c[BARRIER_CLOCK] or clock < known_before(context, (c[RANK] << RANK_SHIFT) + warp)


@native
def _learnt(context: int, block: int, warp: int) -> int:
    """The time before which the running warp knows all that a warp of another block did."""
    c = pointer(context, int64)
    index = block * c[WARPS] + warp
    if index >= c[VECTOR_LENGTH]:
        return int64(0)
    own = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)[W_VECTOR]
    return max(int64(_vector(context, own)[index]), int64(_vector(context, c[BLOCK_VECTOR])[index]))


# -- vectors --------------------------------------------------------------------------------------------------------


@native
def _vector(context: int, number: int) -> Any:
    """A vector by its number; number 0 is all zeros."""
    c = pointer(context, int64)
    return pointer(c[VECTORS] + number * c[VECTOR_LENGTH] * 4, uint32)


@native
def _new_vector(context: int) -> int:
    """The number of a vector of zeros; 0 where there is no more room."""
    c = pointer(context, int64)
    if c[FREE_COUNT]:
        c[FREE_COUNT] -= 1
        number = pointer(c[FREE_VECTORS], int64)[c[FREE_COUNT]]
        vector = _vector(context, number)
        for index in range(c[VECTOR_LENGTH]):
            vector[index] = 0
        return number
    if c[VECTOR_COUNT] == c[VECTOR_MOST] - 1:
        c[LENIENT] = max(c[LENIENT], int64(1))
        return int64(0)
    c[VECTOR_COUNT] += 1
    return c[VECTOR_COUNT]


@native
def free_vector(context: int, number: int) -> None:
    """Gives a vector back, if it is one."""
    c = pointer(context, int64)
    if number:
        pointer(c[FREE_VECTORS], int64)[c[FREE_COUNT]] = number
        c[FREE_COUNT] += 1


@native
def _join(context: int, target: int, source: int) -> int:
    """Adds to what the vector `target` knows what `source` knows, and returns its number, a new one for 0."""
    c = pointer(context, int64)
    if source == 0 or target == source:
        return target
    if target == 0:
        target = _new_vector(context)
        if target == 0:
            return target
    to, of = _vector(context, target), _vector(context, source)
    for index in range(c[VECTOR_LENGTH]):
        to[index] = max(to[index], of[index])
    return target


# -- fences, releases and acquires ----------------------------------------------------------------------------------


@native
def fence(context: int, of_device: int) -> None:
    """A fence for the block, or `of_device` for all blocks. Lanes of a warp count as ordered by it."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    c[CLOCK] += 1
    c[BLOCK_FENCES] += 1
    w[W_SYNC_CLOCK] = c[CLOCK]
    w[W_BLOCK_FENCE] = c[CLOCK]
    w[W_BLOCK_FENCE_BARRIER] = c[BARRIER_CLOCK]
    if of_device:
        w[W_FENCE] = c[CLOCK]
        w[W_FENCE_BARRIER] = c[BARRIER_CLOCK]


@native
def _published(context: int, warp: int, fences: int, barriers: int) -> int:
    """CLOCK before which what a warp of the block did is published by a strong store of the running warp.

    That is what the warp did before its own fence, if a barrier has ordered the fence before the store; and what it did
    before a barrier that the running warp's fence lies behind. `fences` and `barriers` are slots of the warps' states.
    """
    c = pointer(context, int64)
    me = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    if warp == c[WARP]:
        return me[fences]
    other = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
    before = known(context, c[WARP])[(c[RANK] << RANK_SHIFT) + warp]
    fenced = min(other[fences], max(c[BARRIER_CLOCK], before))
    return max(max(me[barriers], fenced), before if me[fences] else int64(0))


@native
def _find(context: int, key: int) -> int:
    """The entry of an address, or the free one where it would be; 0 where the table is full."""
    c = pointer(context, int64)
    # On these bits all of the key has an effect, the block's place too.
    place = (key >> 2) * 0x9E3779B97F4A7C1 >> 40
    for step in range(64):
        entry = c[SYNC_TABLE] + (place + step & SYNC_ENTRIES - 1) * SYNC_ENTRY * 8
        found = pointer(entry, int64)[V_KEY]
        if found in (key, 0):
            return entry
    c[LENIENT] = WITH_WARPS
    return int64(0)


@native
def _of_an_earlier_block(context: int, entry: int) -> bool:
    """Whether an entry is of shared memory that another block had before this one."""
    v = pointer(entry, int64)
    return v[V_KEY] < GLOBAL_BASE and v[V_BLOCK] != pointer(context, int64)[BLOCK_LINEAR]


@native
def release(context: int, key: int, anew: int) -> None:
    """A strong store or an atomic at an address publishes what the running warp has fenced. A store publishes `anew`;
    an atomic adds to what was published there, as it reads that."""
    c = pointer(context, int64)
    if c[SYNC_TABLE] == 0 or (c[BLOCK_FENCES] == 0 and not anew):
        return
    entry = _find(context, key)
    if entry == 0:
        return
    v = pointer(entry, int64)
    if c[BLOCK_FENCES] == 0 and v[V_KEY] == 0:
        return
    block = c[BLOCK_LINEAR]
    fresh = v[V_KEY] == 0 or anew or _of_an_earlier_block(context, entry)
    if fresh or v[V_BLOCK] != block:
        for warp in range(c[WARPS]):
            v[V_WARPS + warp] = 0
        v[V_PATH] = 0
    if fresh:
        free_vector(context, v[V_VECTOR])
        v[V_VECTOR] = 0
    v[V_KEY] = key
    v[V_BLOCK] = block
    c[CLOCK] += 1
    v[V_VERSION] = c[CLOCK]
    if c[BLOCK_FENCES]:
        for warp in range(c[WARPS]):
            time = _published(context, warp, int64(W_BLOCK_FENCE), int64(W_BLOCK_FENCE_BARRIER))
            v[V_WARPS + warp] = max(v[V_WARPS + warp], time)
        v[V_PATH] = max(v[V_PATH], path(context))
        _publish_to_blocks(context, entry)


@native
def _publish_to_blocks(context: int, entry: int) -> None:
    c = pointer(context, int64)
    v = pointer(entry, int64)
    me = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    if c[VECTOR_LENGTH] == 0 or c[LENIENT]:
        return
    latest = int64(0)
    for warp in range(c[WARPS]):
        latest = max(latest, _published(context, warp, int64(W_FENCE), int64(W_FENCE_BARRIER)))
    if latest == 0:
        return
    v[V_VECTOR] = _join(context, v[V_VECTOR], c[BLOCK_VECTOR])
    v[V_VECTOR] = _join(context, v[V_VECTOR], me[W_VECTOR])
    if v[V_VECTOR] == 0:
        v[V_VECTOR] = _new_vector(context)
    if v[V_VECTOR]:
        vector = _vector(context, v[V_VECTOR])
        for warp in range(c[WARPS]):
            time = _published(context, warp, int64(W_FENCE), int64(W_FENCE_BARRIER)) - c[LAUNCH_CLOCK]
            index = c[BLOCK_LINEAR] * c[WARPS] + warp
            vector[index] = uint32(max(int64(vector[index]), time))


@native
def acquire(context: int, key: int) -> None:
    """A strong load or an atomic at an address: the running warp knows from here on what is published there."""
    c = pointer(context, int64)
    if c[SYNC_TABLE] == 0:
        return
    entry = _find(context, key)
    if entry == 0:
        return
    v = pointer(entry, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    if v[V_KEY] == 0 or (w[W_ACQUIRED] == key and w[W_ACQUIRED_VERSION] == v[V_VERSION]):
        return
    if _of_an_earlier_block(context, entry):
        return
    w[W_ACQUIRED] = key
    w[W_ACQUIRED_VERSION] = v[V_VERSION]
    mine, first = known(context, c[WARP]), c[RANK] << RANK_SHIFT
    if v[V_BLOCK] == c[BLOCK_LINEAR]:
        wait_for(context, v[V_PATH])
        for warp in range(c[WARPS]):
            mine[first + warp] = max(mine[first + warp], v[V_WARPS + warp])
    if v[V_VECTOR]:
        w[W_VECTOR] = _join(context, w[W_VECTOR], v[V_VECTOR])
        own = _vector(context, v[V_VECTOR])
        for warp in range(c[WARPS]):
            time = int64(own[c[BLOCK_LINEAR] * c[WARPS] + warp])
            if time:
                mine[first + warp] = max(mine[first + warp], time + c[LAUNCH_CLOCK])


@native
def meet(context: int) -> None:
    """At a barrier of the block: what one warp has learnt of other blocks, all know."""
    c = pointer(context, int64)
    if c[CLUSTER_SIZE] > 1:
        tell_all(context)
    if c[VECTOR_LENGTH] == 0:
        return
    for warp in range(c[WARPS]):
        w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
        if w[W_VECTOR]:
            c[BLOCK_VECTOR] = _join(context, c[BLOCK_VECTOR], w[W_VECTOR])
            free_vector(context, w[W_VECTOR])
            w[W_VECTOR] = 0


@native
def learn(context: int, warp: int, other: int, clock: int) -> None:
    """At a barrier of a part of the block: a warp knows what another did before CLOCK was `clock`, and what it knew."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
    o = pointer(c[WARP_STATES] + other * c[WARP_BYTES], int64)
    join(context, knowledge(context, warp), knowledge(context, other))
    mine = known(context, warp)
    mine[(c[RANK] << RANK_SHIFT) + other] = max(mine[(c[RANK] << RANK_SHIFT) + other], clock)
    if c[VECTOR_LENGTH]:
        w[W_VECTOR] = _join(context, w[W_VECTOR], o[W_VECTOR])


@native
def forget(context: int) -> None:
    """At the end of a block: gives its vectors back."""
    c = pointer(context, int64)
    meet(context)
    free_vector(context, c[BLOCK_VECTOR])
    c[BLOCK_VECTOR] = 0


@native
def share(context: int, kind: int) -> None:
    """The same in a cluster: whatever one strong access has published, all others acquire, wherever they are."""
    c = pointer(context, int64)
    board, mine = c[CLUSTER] + (K_NOW + 2 * c[KNOWN_COUNT]) * 8, knowledge(context, c[WARP])
    if kind in (ATOMIC, STRONG_LOAD):
        join(context, mine, board)
    if kind != STRONG_LOAD and c[BLOCK_FENCES]:
        c[CLOCK] += 1
        for warp in range(c[WARPS]):
            time = _published(context, warp, int64(W_BLOCK_FENCE), int64(W_BLOCK_FENCE_BARRIER))
            at = pointer(board + ((c[RANK] << RANK_SHIFT) + warp) * 8, int64)
            at[0] = max(at[0], time)
        join(context, board, mine)


@native
def synchronise_shared(context: int, addresses: int, mask: int, kind: int) -> None:
    """What strong accesses to shared memory publish and acquire; addresses are offsets."""
    c = pointer(context, int64)
    if c[CLUSTER_SIZE] > 1:
        share(context, kind)
        return
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            key = SHARED_WINDOW + (c[RESIDENT] << 34) + a[lane]
            if kind in (ATOMIC, STRONG_LOAD):
                acquire(context, key)
            if kind != STRONG_LOAD:
                release(context, key, int64(kind == STRONG_STORE))
