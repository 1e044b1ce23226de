"""Shared memory: bounds, bank wavefronts, and a shadow that finds races and reads of what nobody wrote.

The shadow keeps, for each word (or byte, where the kernel has narrower accesses), who wrote and who read it last,
and when. Two accesses by different threads, one of them a write, race when nothing orders them: no block barrier
between accesses of different warps, and neither barrier nor `__syncwarp` between lanes of one warp, since lanes
are not promised to run in step.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (
    ACCESS_LANES,
    ACCESSOR_BITS,
    ANY_WARP,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    CLOCK,
    GROUPS,
    LANES,
    LOAD,
    MISALIGNED,
    OUT_OF_BOUNDS,
    P_ALIGNED,
    P_GROUPS,
    P_HIGHEST,
    P_ITEM_LANES,
    P_ITEM_OFFSETS,
    P_ITEMS,
    P_LOWEST,
    P_SECTORS,
    PATTERNS_SHARED,
    RACE,
    REQUESTS,
    SECTORS,
    SEVERAL,
    SHADOW,
    SHADOW_ENTRY,
    SHADOW_READ,
    SHADOW_SHIFT,
    SHADOW_WRITE,
    SHARED_BYTES,
    SHARED_HOST,
    STORE,
    STORE_PHASE,
    UNINITIALISED,
    W_SYNC_CLOCK,
    WARP,
    WARP_BYTES,
    WARP_STATES,
)  # fmt: skip
from grader.emulator.runtime.native import pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.patterns import describe_shared, fill_inactive, find_pattern


@native
def sync_clock(context: int) -> int:
    """When the running warp's lanes were last ordered among themselves."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    return max(w[W_SYNC_CLOCK], c[BARRIER_CLOCK])


@native
def _unordered(context: int, record: int, warp: int, lane: int, synchronised: int) -> bool:
    """Whether an earlier access may run at the same time as one of `warp` and `lane` now."""
    c = pointer(context, int64)
    when = record >> ACCESSOR_BITS
    if when < c[BARRIER_CLOCK] or when < c[BLOCK_CLOCK]:
        return False
    if (record >> 6) & 1023 != warp:
        return True
    return when >= synchronised and (record & 63 != lane or lane == SEVERAL)


@native
def _thread_of(record: int) -> int:
    return ((record >> 6) & 1023) * LANES + (record & 63)


@native
def _shadow_load(context: int, site: int, entry: int, lane: int, synchronised: int, address: int) -> None:
    c = pointer(context, int64)
    e = pointer(entry, int64)
    warp = c[WARP]
    write = e[SHADOW_WRITE]
    thread_lane = lane if lane != SEVERAL else int64(0)
    if write >> ACCESSOR_BITS < c[BLOCK_CLOCK]:
        note(context, site, UNINITIALISED, thread_lane, address, int64(0))
        e[SHADOW_WRITE] = c[BLOCK_CLOCK] << ACCESSOR_BITS  # reported once
    elif _unordered(context, write, warp, lane, synchronised):
        note(context, site, RACE, thread_lane, address, _thread_of(write))
    read = e[SHADOW_READ]
    reader_warp = warp
    reader_lane = lane
    if read >> ACCESSOR_BITS >= c[BARRIER_CLOCK]:
        if (read >> 6) & 1023 != warp:
            reader_warp = int64(ANY_WARP)
        elif read & 63 != lane and read >> ACCESSOR_BITS >= synchronised:
            reader_lane = int64(SEVERAL)
    e[SHADOW_READ] = (c[CLOCK] << ACCESSOR_BITS) | (reader_warp << 6) | reader_lane


@native
def _shadow_store(context: int, site: int, entry: int, lane: int, synchronised: int, address: int) -> None:
    c = pointer(context, int64)
    e = pointer(entry, int64)
    warp = c[WARP]
    one = lane if lane != SEVERAL else int64(0)
    if _unordered(context, e[SHADOW_WRITE], warp, one, synchronised):
        note(context, site, RACE, one, address, _thread_of(e[SHADOW_WRITE]))
    elif _unordered(context, e[SHADOW_READ], warp, one, synchronised):
        note(context, site, RACE, one, address, _thread_of(e[SHADOW_READ]))
    e[SHADOW_WRITE] = (c[CLOCK] << ACCESSOR_BITS) | (warp << 6) | one


@native
def _shadow_atomic(context: int, site: int, entry: int, lane: int, address: int) -> None:
    """Atomics never race with each other; what they update must have been written."""
    c = pointer(context, int64)
    e = pointer(entry, int64)
    if e[SHADOW_WRITE] >> ACCESSOR_BITS < c[BLOCK_CLOCK]:
        note(context, site, UNINITIALISED, lane if lane != SEVERAL else int64(0), address, int64(0))
        e[SHADOW_WRITE] = c[BLOCK_CLOCK] << ACCESSOR_BITS


@native
def _shadow(
    context: int, site: int, offset: int, width: int, lane: int, kind: int, synchronised: int
) -> None:
    """Updates the entries of one access of `width` bytes at `offset`."""
    c = pointer(context, int64)
    shift = c[SHADOW_SHIFT]
    for index in range(offset >> shift, (offset + width - 1 >> shift) + 1):
        entry = c[SHADOW] + index * SHADOW_ENTRY * 8
        if kind == LOAD:
            _shadow_load(context, site, entry, lane, synchronised, offset)
        elif kind == STORE:
            _shadow_store(context, site, entry, lane, synchronised, offset)
        else:
            _shadow_atomic(context, site, entry, lane, offset)


@native
def _shadow_pattern(context: int, site: int, pattern: int, first: int, width: int, kind: int) -> None:
    """Updates the entries of a whole request.

    Where the last accesses lie before the last barrier nothing can race, and there is little to do; only what is
    not settled that way is looked at closely.
    """
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    shift = c[SHADOW_SHIFT]
    granules = max(width >> shift, int64(1))
    settled = c[BARRIER_CLOCK] << ACCESSOR_BITS
    written = c[BLOCK_CLOCK] << ACCESSOR_BITS
    me = (c[CLOCK] << ACCESSOR_BITS) | (c[WARP] << 6)
    shadow = c[SHADOW]
    synchronised = sync_clock(context)
    for item in range(p[P_ITEMS]):
        lane = p[P_ITEM_LANES + item]
        offset = first + p[P_ITEM_OFFSETS + item]
        entry = shadow + (offset >> shift) * SHADOW_ENTRY * 8
        for granule in range(granules):
            e = pointer(entry, int64)
            write = e[SHADOW_WRITE]
            read = e[SHADOW_READ]
            if kind == LOAD and written <= write < settled:
                if read < settled:
                    e[SHADOW_READ] = me | lane
                elif read != me | lane and (read >> 6) & 1023 != ANY_WARP:
                    _shadow_load(context, site, entry, lane, synchronised, offset)
            elif kind == STORE and write < settled and read < settled and lane != SEVERAL:
                e[SHADOW_WRITE] = me | lane
            else:
                _shadow(context, site, offset + (granule << shift), int64(1), lane, kind, synchronised)
            entry += SHADOW_ENTRY * 8


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
            _shadow(context, site, a[lane], width, int64(lane), kind, synchronised)


@native
def access_shared(
    context: int, site: int, addresses: int, mask: int, width: int, kind: int, scratch: int
) -> int:
    """One warp instruction on shared memory, as `access_global` is on global memory; addresses are offsets."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    first = fill_inactive(addresses, mask)
    phase = (first & 3) + (STORE_PHASE if kind == STORE else 0)
    pattern, known = find_pattern(c[PATTERNS_SHARED], addresses, first, mask, width, phase)
    if not known:
        describe_shared(pattern, addresses, first, mask, width, phase, scratch)
    p = pointer(pattern, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += p[P_SECTORS]
    s[GROUPS] += p[P_GROUPS]
    allowed = mask
    inside = first + p[P_LOWEST] >= 0 and first + p[P_HIGHEST] + width <= c[SHARED_BYTES]
    if not inside or not p[P_ALIGNED] or first & (width - 1):
        allowed = _check_lanes(context, site, addresses, mask, width)
    if allowed == mask:
        _shadow_pattern(context, site, pattern, first, width, kind)
    else:
        _shadow_lanes(context, site, addresses, allowed, width, kind)
    host = c[SHARED_HOST]
    for lane in range(LANES):
        a[lane] += host
    return allowed


@native
def access_shared_uniform(context: int, site: int, offset: int, mask: int, width: int) -> int:
    """A load in which all lanes have one offset. Returns the host address, 0 where not allowed."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += 1
    s[GROUPS] += 1
    lane = trailing_zeros(mask)
    if offset & (width - 1):
        note(context, site, MISALIGNED, lane, offset, width)
        return int64(0)
    if offset < 0 or offset + width > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, offset, width)
        return int64(0)
    reader = lane if mask & (mask - 1) == 0 else int64(SEVERAL)
    _shadow(context, site, offset, width, reader, LOAD, sync_clock(context))
    return offset + c[SHARED_HOST]
