"""Shared memory: bounds, bank wavefronts, and a shadow that finds races and reads of what was never written.

The shadow keeps, for each word (or byte, where the kernel has narrower accesses), which thread wrote and which read
it last, at which site and when. Two accesses by different threads, one of them a write, race when nothing orders
them (ordering.py): no barrier between accesses of different warps, and neither barrier nor `__syncwarp` between
lanes of one warp, since lanes are not promised to run in step. Where warps may meet in part, by barriers with a number
of threads or by flags, it is kept for each of them when it read last. As in global memory, two stores of one value are
no race; where a store may be one, its values are looked at before it is done (`settle_stores`).
"""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.clusters.addresses import names_rank, some_name_rank
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    ACCESSOR_BITS,
    ANY_WARP,
    ATOMIC,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    CLOCK,
    CLUSTER_SIZE,
    COMBINED,
    DOUBT_SHARED,
    DOUBTFUL,
    FINDING_COUNT,
    FINDING_SLOTS,
    FINDINGS,
    GROUPS,
    HERE,
    IN_FLIGHT,
    IN_SHARED,
    KNOWN_STORE,
    LANE_FIELD,
    LANES,
    LENIENT,
    LOAD,
    MISALIGNED,
    NEVER,
    NO_SITE,
    NO_WRITE,
    OTHER_READ,
    OUT_OF_BOUNDS,
    P_ALIGNED,
    P_GROUPS,
    P_HIGHEST,
    P_ITEM_LANES,
    P_ITEM_OFFSETS,
    P_ITEMS,
    P_LOWEST,
    P_RUN,
    P_SECTORS,
    PATTERNS_SHARED,
    RACE,
    RANK,
    RANK_SHIFT,
    REDUCTION,
    REQUESTS,
    RESIDENT,
    SECTORS,
    SEVERAL,
    SHADOW_READERS,
    SHADOW_READS,
    SHADOW_SHIFT,
    SHADOW_VISITORS,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_HOST,
    SHARED_WINDOW,
    SITE_SHIFT,
    STORE,
    STORE_PHASE,
    STORED_BEFORE,
    STRONG_LOAD,
    STRONG_STORE,
    SYNC_TABLE,
    TRACE,
    TRANSACTIONS,
    TURNS,
    UNFINISHED,
    UNFINISHED_PRODUCT,
    UNINITIALISED,
    UPDATED,
    WARP,
    WARP_SHIFT,
    WARPS,
    WITH_WARPS,
)
from grader.emulator.runtime.native import outlined, pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.patterns import describe_shared, fill_inactive, find_pattern, turns_of_atomics
from grader.emulator.runtime.races.accessors import accessor, identity, other_access
from grader.emulator.runtime.races.knowledge import known, known_before
from grader.emulator.runtime.races.lanes import known_of_lanes
from grader.emulator.runtime.races.ordering import acquire, share, sync_clock, synchronise_shared
from grader.emulator.runtime.races.runs import reader_after, run_of_loads, run_of_stores
from grader.emulator.runtime.races.tracking import element_of, lower_lane, same
from grader.emulator.runtime.spaces.shared_use import note_use
from grader.emulator.runtime.spaces.trace import trace, trace_uniform
from grader.emulator.runtime.transactions.queue import check_sources

access_cluster, access_cluster_uniform = outlined("access_cluster"), outlined("access_cluster_uniform")
blame_wait, note_unset = outlined("blame_wait"), outlined("note_unset")


@native
def _known_before(context: int, warp: int) -> int:
    """CLOCK before which the running warp knows all that another one did, or all other ones."""
    c = pointer(context, int64)
    if warp != ANY_WARP:
        return known_before(context, warp)
    least = c[CLOCK]
    for other in range(c[WARPS]):
        if other != c[WARP]:
            least = min(least, known_before(context, (c[RANK] << RANK_SHIFT) + other))
    return least


@native
def _unordered(context: int, record: int, warp: int, lane: int, synchronised: int) -> bool:
    """Whether an earlier access may run at the same time as one of `warp` (its `identity`) and `lane` now."""
    c = pointer(context, int64)
    when = record >> ACCESSOR_BITS
    other = (record >> WARP_SHIFT) & ANY_WARP
    if when < c[BLOCK_CLOCK] or other_access(record) == NO_WRITE:  # which was told as what it is
        return False
    if when < c[BARRIER_CLOCK] and (c[CLUSTER_SIZE] == 1 or other >> RANK_SHIFT == c[RANK]):
        return False
    if when >= NEVER:
        return when == NEVER + c[BLOCK_CLOCK]
    if other != warp:
        return when >= _known_before(context, other)
    if record & LANE_FIELD in (COMBINED, UPDATED):
        return False
    own = record & LANE_FIELD == lane and lane != SEVERAL
    return when >= synchronised and not own and when >= known_of_lanes(context, lane, record & LANE_FIELD)


@native
def _reported(context: int) -> int:
    """The record of a write that never was, in place of one that was missed: it is reported once."""
    return (pointer(context, int64)[BLOCK_CLOCK] << ACCESSOR_BITS) | NO_WRITE


@native
def _is_stored(context: int, write: int) -> bool:
    """Whether the record of a granule's last write is of one by this block that has arrived."""
    c = pointer(context, int64)
    there = write >> ACCESSOR_BITS >= c[BLOCK_CLOCK] and write & LANE_FIELD != IN_FLIGHT
    return there and other_access(write) != NO_WRITE


@native
def noted_unset(context: int, site: int, index: int, lane: int, address: int) -> None:
    """Notes a granule that is read and that nobody has written, and of a site's first which are, nearest to it: one
    before it and one behind."""
    c = pointer(context, int64)
    writes, around = pointer(c[SHADOW_WRITES], int64), int64(0)
    if pointer(site, int64)[FINDINGS + UNINITIALISED * FINDING_SLOTS + FINDING_COUNT] == 0:
        below, above, end = index - 1, index + 1, c[SHARED_BYTES] >> c[SHADOW_SHIFT]
        while below >= 0 and not _is_stored(context, writes[below]):
            below -= 1
        while above < end and not _is_stored(context, writes[above]):
            above += 1
        before = (below << c[SHADOW_SHIFT]) + 1 if below >= 0 else int64(0)
        behind = (above << c[SHADOW_SHIFT]) + 1 if above < end else int64(0)
        around = (before << STORED_BEFORE) | behind
    note(context, site, UNINITIALISED, lane, address, around)


@native
def _in_flight(context: int, write: int) -> bool:
    """Whether a cp.async of this block is still on its way; what an earlier block never waited for is forgotten."""
    return (
        write & LANE_FIELD == IN_FLIGHT
        and write >> ACCESSOR_BITS == NEVER + pointer(context, int64)[BLOCK_CLOCK]
    )


@native
def _shadow_load(context: int, site: int, index: int, lane: int, synchronised: int, address: int) -> None:
    """One granule that is read: who may be writing it at the same time?"""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    reads = pointer(c[SHADOW_READS], int64)
    write = writes[index]
    if _in_flight(context, write):
        note(context, site, UNFINISHED, lane, address, other_access(write))
        blame_wait(context, index << c[SHADOW_SHIFT])
    elif write >> ACCESSOR_BITS < c[BLOCK_CLOCK] or write & LANE_FIELD == IN_FLIGHT:
        note_unset(context, site, index, lane, address)
        blame_wait(context, index << c[SHADOW_SHIFT])
        writes[index] = _reported(context)
    elif write & LANE_FIELD != UPDATED and _unordered(context, write, identity(context), lane, synchronised):
        note(context, site, RACE, lane, address, other_access(write))
        blame_wait(context, index << c[SHADOW_SHIFT])
    reads[index] = reader_after(
        reads[index],
        accessor(context, site),
        lane,
        c[BARRIER_CLOCK] << ACCESSOR_BITS,
        synchronised << ACCESSOR_BITS,
    )
    if c[SHADOW_READERS]:
        if c[HERE] == c[RANK]:
            pointer(c[SHADOW_READERS], int64)[index * c[WARPS] + c[WARP]] = c[CLOCK]
        else:
            _visitors(context, index)[c[RANK]] = accessor(context, site) | lane


@native
def is_known(context: int, write: int) -> bool:
    """Whether a granule's last write is of this block, has arrived and is known to the whole running warp."""
    c = pointer(context, int64)
    if write >> ACCESSOR_BITS < c[BLOCK_CLOCK] or write & LANE_FIELD == IN_FLIGHT:
        return False
    done = write & LANE_FIELD in (COMBINED, UPDATED)
    return done or not _unordered(context, write, identity(context), int64(SEVERAL), sync_clock(context))


@native
def _visitors(context: int, index: int) -> Any:
    """The records of a granule's last read by each block of the cluster but its own."""
    c = pointer(context, int64)
    return pointer(c[SHADOW_VISITORS] + index * c[CLUSTER_SIZE] * 8, int64)


@native
def _last_read(context: int, index: int) -> int:
    """The record of a granule's last read; where warps may meet in part, rather that of one which nothing orders."""
    c = pointer(context, int64)
    read = pointer(c[SHADOW_READS], int64)[index]
    if c[SHADOW_READERS] == 0:
        return read
    clocks = pointer(c[SHADOW_READERS] + index * c[WARPS] * 8, int64)
    me, first, at_home = identity(context), c[HERE] << RANK_SHIFT, c[HERE] == c[RANK]
    knows, lenient = known(context, c[WARP]), c[LENIENT] == WITH_WARPS
    settled = max(c[BLOCK_CLOCK], c[BARRIER_CLOCK]) if at_home else c[BLOCK_CLOCK]
    recent = int64(0)  # counted without a branch: most granules have none
    for warp in range(c[WARPS]):
        recent += (clocks[warp] >= settled) & (clocks[warp] >= knows[first + warp])
    for warp in range(c[WARPS] if recent else 0):
        new = clocks[warp] >= settled and clocks[warp] >= knows[first + warp]
        if new and first + warp != me and not lenient:
            site = read & (NO_SITE << SITE_SHIFT)
            return (clocks[warp] << ACCESSOR_BITS) | site | (first + warp << WARP_SHIFT) | SEVERAL
    for rank in range(c[CLUSTER_SIZE] if c[CLUSTER_SIZE] > 1 else 0):
        record = _visitors(context, index)[rank]
        peer = (record >> WARP_SHIFT) & ANY_WARP
        if record and peer != me and _unordered(context, record, me, int64(0), int64(0)):
            return record
    if at_home and clocks[c[WARP]] >= NEVER:
        return (clocks[c[WARP]] << ACCESSOR_BITS) | read & ((1 << ACCESSOR_BITS) - 1)
    return read if (read >> WARP_SHIFT) & ANY_WARP == me else int64(0)


@native
def _met_by_store(context: int, index: int, read: int, lane: int, synchronised: int, changes: bool) -> int:
    """The access that a store to a granule, which was `read` last, races with, as a finding keeps it; -1 where there is
    none. It races with another store if it `changes` what that has left."""
    write = pointer(pointer(context, int64)[SHADOW_WRITES], int64)[index]
    write = write if write & LANE_FIELD != IN_FLIGHT else int64(0)
    warp = identity(context)
    races_with_read = _unordered(context, read, warp, lane, synchronised)
    if races_with_read and other_access(write) == NO_WRITE:
        return other_access(read) | int64(OTHER_READ)
    if changes and _unordered(context, write, warp, lane, synchronised):
        return other_access(write)
    return other_access(read) | int64(OTHER_READ) if races_with_read else int64(-1)


@native
def _shadow_store(
    context: int, site: int, index: int, lane: int, synchronised: int, address: int, kind: int
) -> None:
    """One granule that is written: who may be reading or writing it at the same time? Where that depends on what a
    KNOWN_STORE stores, the records stay as they are until `settle_stores`."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    read = _last_read(context, index)
    one = lane if lane != SEVERAL else int64(0)
    if _in_flight(context, writes[index]):
        note(context, site, UNFINISHED, lane, address, other_access(writes[index]))
    elif read >> ACCESSOR_BITS == NEVER + c[BLOCK_CLOCK]:
        note(context, site, UNFINISHED_PRODUCT, lane, address, other_access(read) | OTHER_READ)
    else:
        met = _met_by_store(context, index, read, one, synchronised, True)
        if kind == KNOWN_STORE and (met >= 0 or lane == SEVERAL):
            c[DOUBTFUL] |= DOUBT_SHARED
            return
        if met >= 0:
            note(context, site, RACE, lane, address, met)
    writes[index] = accessor(context, site) | one


@native
def settle_stores(
    context: int, site: int, addresses: int, values: int, mask: int, width: int, count: int
) -> None:
    """A store to shared memory that is about to be done, as `track_stores` of one to global memory."""
    c, a = pointer(context, int64), pointer(addresses, int64)
    for lane in range(LANES):
        offset = a[lane] - c[SHARED_HOST]
        if (mask >> lane) & 1 and 0 <= offset < c[SHARED_BYTES]:
            lower = lower_lane(addresses, mask, int64(lane))
            met = int64(-1)
            for element in range(count):
                at, mine = offset + element * width, element_of(values, int64(element), width, int64(lane))
                changes = values == 0 or not same(at + c[SHARED_HOST], mine, width)
                if lower == lane:
                    met = max(met, _settled(context, site, at, width, int64(lane), changes))
                elif values and not same(element_of(values, int64(element), width, lower), mine, width):
                    met = other_access(accessor(context, site) | lower)
            if met >= 0:
                note(context, site, RACE, int64(lane), offset, met)


@native
def _settled(context: int, site: int, offset: int, width: int, lane: int, changes: bool) -> int:
    """Keeps a lane's store of one element, and returns the access that it races with; -1 where there is none."""
    c = pointer(context, int64)
    shift, met, synchronised = c[SHADOW_SHIFT], int64(-1), sync_clock(context)
    for index in range(offset >> shift, (offset + width - 1 >> shift) + 1):
        met = max(met, _met_by_store(context, index, _last_read(context, index), lane, synchronised, changes))
        pointer(c[SHADOW_WRITES], int64)[index] = accessor(context, site) | lane
    return met


@native
def _shadow_atomic(context: int, site: int, index: int, lane: int, synchronised: int, address: int) -> None:
    """Atomics never race with each other, but with plain accesses; what they update must have been written."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    write = writes[index]
    if write >> ACCESSOR_BITS < c[BLOCK_CLOCK]:
        note_unset(context, site, index, lane, address)
        writes[index] = accessor(context, site) | COMBINED
    elif write & LANE_FIELD != IN_FLIGHT:
        strong = write & LANE_FIELD in (COMBINED, UPDATED)
        read, warp = _last_read(context, index), identity(context)
        others = (read >> WARP_SHIFT) & ANY_WARP != warp
        if not strong and _unordered(context, write, warp, lane, synchronised):
            note(context, site, RACE, lane, address, other_access(write))
        elif others and _unordered(context, read, warp, lane, synchronised):
            note(context, site, RACE, lane, address, other_access(read) | OTHER_READ)
        record = accessor(context, site) | COMBINED
        shared = write & LANE_FIELD == COMBINED and c[CLUSTER_SIZE] == 1
        if shared and _unordered(context, write, warp, lane, synchronised):
            record |= ANY_WARP << WARP_SHIFT  # a load of this warp races with the other's
        writes[index] = record


@native
def _shadow_strong(context: int, site: int, index: int, lane: int, kind: int, address: int) -> None:
    """A strong load or store, where warps may wait for each other by them."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    written = writes[index] >> ACCESSOR_BITS >= c[BLOCK_CLOCK]
    if kind == STRONG_STORE:
        plain = written and writes[index] & LANE_FIELD not in (COMBINED, UPDATED, IN_FLIGHT)
        if plain and _unordered(context, writes[index], identity(context), lane, sync_clock(context)):
            note(context, site, RACE, lane, address, other_access(writes[index]))
        writes[index] = accessor(context, site) | UPDATED
    elif not written:
        note_unset(context, site, index, lane, address)
        writes[index] = _reported(context)


@native
def shadow(context: int, site: int, offset: int, width: int, lane: int, kind: int, synchronised: int) -> None:
    """Updates the records of one access of `width` bytes at `offset`."""
    shift = pointer(context, int64)[SHADOW_SHIFT]
    for index in range(offset >> shift, (offset + width - 1 >> shift) + 1):
        if kind == LOAD:
            _shadow_load(context, site, index, lane, synchronised, offset)
        elif kind in (STORE, KNOWN_STORE):
            _shadow_store(context, site, index, lane, synchronised, offset, kind)
        elif kind in (STRONG_LOAD, STRONG_STORE):
            _shadow_strong(context, site, index, lane, kind, offset)
        else:
            _shadow_atomic(context, site, index, lane, synchronised, offset)


@native
def _known(kind: int) -> int:
    return int64(KNOWN_STORE) if kind == STORE else kind


@native
def _shadow_pattern(context: int, site: int, pattern: int, first: int, width: int, kind: int) -> None:
    """Updates the records of a whole request.

    Where the last accesses lie before the last barrier nothing can race, and there is little to do; only what is
    not settled that way is looked at closely.
    """
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    shift = c[SHADOW_SHIFT]
    granules = max(width >> shift, int64(1))
    synchronised = sync_clock(context)
    me = accessor(context, site)
    in_part = c[SHADOW_READERS] != 0
    if p[P_RUN] and not in_part:
        lane_shift = trailing_zeros(granules)
        count = p[P_ITEMS] * granules
        if kind == LOAD and run_of_loads(context, me, first, count, lane_shift, synchronised):
            return
        if kind == STORE and run_of_stores(context, me, first, count, lane_shift):
            return
    settled = int64(0) if in_part else c[BARRIER_CLOCK] << ACCESSOR_BITS
    written = c[BLOCK_CLOCK] << ACCESSOR_BITS
    synced = synchronised << ACCESSOR_BITS
    writes = pointer(c[SHADOW_WRITES], int64)
    reads = pointer(c[SHADOW_READS], int64)
    for item in range(p[P_ITEMS]):
        lane = p[P_ITEM_LANES + item]
        offset = first + p[P_ITEM_OFFSETS + item]
        for index in range(offset >> shift, (offset >> shift) + granules):
            if kind == LOAD and written <= writes[index] < settled:
                reads[index] = reader_after(reads[index], me, lane, settled, synced)
            elif kind == STORE and writes[index] < settled and reads[index] < settled and lane != SEVERAL:
                writes[index] = me | lane
            else:
                shadow(context, site, index << shift, int64(1), lane, _known(kind), synchronised)


@native
def _check_lanes(context: int, site: int, addresses: int, mask: int, width: int) -> int:
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    allowed = int64(0)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        if a[lane] & (width - 1):
            note(context, site, MISALIGNED, lane, a[lane], width)
        elif a[lane] < 0 or a[lane] + width > c[SHARED_BYTES]:
            note(context, site, OUT_OF_BOUNDS, lane, a[lane], width)
        else:
            allowed |= int64(1) << lane
    return allowed


@native
def _shadow_lanes(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> None:
    """The slow way, lane by lane: for a request of which some lanes were refused."""
    a = pointer(addresses, int64)
    synchronised = sync_clock(context)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            shadow(context, site, a[lane], width, int64(lane), _known(kind), synchronised)


@native
def plainly(context: int, kind: int) -> int:
    """How an access counts here: strong loads and stores are as plain ones where no warp can wait by them."""
    if pointer(context, int64)[SYNC_TABLE]:
        return kind
    if kind == STRONG_LOAD:
        return int64(LOAD)
    return int64(STORE) if kind == STRONG_STORE else kind


@native
def access_shared(
    context: int, site: int, addresses: int, mask: int, width: int, kind: int, scratch: int
) -> int:
    """One warp instruction on shared memory, as `access_global` is on global memory; addresses are offsets."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    kind = plainly(context, kind)
    first = fill_inactive(addresses, mask)
    phase = (first & 3) + (STORE_PHASE if kind in (STORE, STRONG_STORE) else 0)
    pattern, known = find_pattern(c[PATTERNS_SHARED], addresses, first, mask, width, phase)
    if not known:
        describe_shared(pattern, addresses, first, mask, width, phase, scratch)
    p = pointer(pattern, int64)
    inside = first + p[P_LOWEST] >= 0 and first + p[P_HIGHEST] + width <= c[SHARED_BYTES]
    if not inside and some_name_rank(context, addresses, mask):
        return access_cluster(context, site, addresses, mask, width, kind, scratch)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += p[P_SECTORS]
    s[GROUPS] += p[P_GROUPS]
    if kind in (ATOMIC, REDUCTION):
        s[TURNS] += turns_of_atomics(addresses, mask, width, scratch)
    note_use(context, kind)
    allowed = mask
    if not inside or not p[P_ALIGNED] or first & (width - 1):
        allowed = _check_lanes(context, site, addresses, mask, width)
    if allowed == mask:
        _shadow_pattern(context, site, pattern, first, width, kind)
    else:
        _shadow_lanes(context, site, addresses, allowed, width, kind)
    if c[SYNC_TABLE] and kind not in (LOAD, STORE):
        synchronise_shared(context, addresses, allowed, kind)
    if c[TRANSACTIONS] and kind not in (LOAD, STRONG_LOAD):
        check_sources(context, site, addresses, allowed, width)
    if c[TRACE]:
        trace(context, int64(IN_SHARED), addresses, allowed, width, kind)
    host = c[SHARED_HOST]
    for lane in range(LANES):
        a[lane] += host
    return allowed


@native
def access_shared_uniform(context: int, site: int, offset: int, mask: int, width: int, kind: int) -> int:
    """A load in which all lanes have one offset. Returns the host address, 0 where not allowed."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    if names_rank(context, offset):
        return access_cluster_uniform(context, site, offset, mask, width, kind)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    # All lanes having one address, neighbouring groups are served together: quarter-warps two by two.
    groups = int64(1)
    if width == 16 and mask & 0xFFFF and mask >> 16:
        groups = int64(2)
    s[SECTORS] += groups
    s[GROUPS] += groups
    note_use(context, kind)
    lane = trailing_zeros(mask)
    if offset & (width - 1):
        note(context, site, MISALIGNED, lane, offset, width)
        return int64(0)
    if offset < 0 or offset + width > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, offset, width)
        return int64(0)
    if c[TRACE]:
        trace_uniform(context, int64(IN_SHARED), offset, mask, width, kind)
    reader = lane if mask & (mask - 1) == 0 else int64(SEVERAL)
    kind = plainly(context, kind)
    shadow(context, site, offset, width, reader, kind, sync_clock(context))
    if kind == STRONG_LOAD and c[CLUSTER_SIZE] > 1:
        share(context, kind)
    elif kind == STRONG_LOAD:
        acquire(context, SHARED_WINDOW + (c[RESIDENT] << 34) + offset)
    return offset + c[SHARED_HOST]
