"""Global and constant memory: bounds, alignment, requests, sectors, and reads of what others store meanwhile.

Who stored a sector's words last is kept for as long as the launch lasts. A thread that loads what another block has
stored, or another warp of its block since the last barrier, races with it, unless the kernel has means to wait
for that (atomics, fences, volatile accesses): then nothing is looked for.
"""

from __future__ import annotations

from numba import int64, uint8, uint32

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (
    ACCESS_LANES,
    ALLOCATION_COUNT,
    ALLOCATIONS,
    ATOMIC,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    BLOCK_LINEAR,
    BLOCK_SERIAL,
    BOUND_HIGH,
    BOUND_LOW,
    GLOBAL_BASE,
    HOST_DELTA,
    LANES,
    LAUNCH,
    LOAD,
    MISALIGNED,
    MOST_EPOCHS,
    NEW_SECTORS,
    OUT_OF_BOUNDS,
    OWNER_BLOCK,
    OWNER_EPOCH,
    OWNER_LAUNCH,
    OWNER_WARP,
    OWNERS,
    P_ALIGNED,
    P_HIGHEST,
    P_ITEM_OFFSETS,
    P_ITEM_WORDS,
    P_LOWEST,
    P_SECTORS,
    PATTERNS_GLOBAL,
    RACE,
    REQUESTS,
    SECTORS,
    STAMPS,
    STORE,
    TOUCHED_READ,
    TOUCHED_WRITE,
    WARP,
    WARPS_WAIT,
)  # fmt: skip
from grader.emulator.runtime.native import pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.patterns import describe_global, fill_inactive, find_pattern, sector_words


@native
def find_allocation(context: int, site: int, address: int, width: int) -> bool:
    """Remembers in the site the live allocation around an address; False where there is none."""
    c = pointer(context, int64)
    table = pointer(c[ALLOCATIONS], int64)
    low = int64(0)
    high = c[ALLOCATION_COUNT]
    while low < high:
        middle = (low + high) >> 1
        if table[2 * middle] <= address:
            low = middle + 1
        else:
            high = middle
    if low == 0 or address + width > table[2 * low - 1]:
        return False
    s = pointer(site, int64)
    s[BOUND_LOW] = table[2 * low - 2]
    s[BOUND_HIGH] = table[2 * low - 1]
    return True


@native
def check_address(context: int, site: int, address: int, width: int, lane: int) -> bool:
    """Whether one lane may access `width` bytes here; a finding where it may not."""
    if address & (width - 1):
        note(context, site, MISALIGNED, lane, address, width)
        return False
    s = pointer(site, int64)
    if address >= s[BOUND_LOW] and address + width <= s[BOUND_HIGH]:
        return True
    if find_allocation(context, site, address, width):
        return True
    note(context, site, OUT_OF_BOUNDS, lane, address, width)
    return False


@native
def _check_lanes(context: int, site: int, addresses: int, mask: int, width: int) -> int:
    """The lanes of the mask that may access memory where they want to."""
    a = pointer(addresses, int64)
    allowed = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and check_address(context, site, a[lane], width, lane):
            allowed |= int64(1) << lane
    return allowed


@native
def _owner(context: int) -> int:
    """The running warp as a sector's owner, without any words."""
    c = pointer(context, int64)
    epoch = min(c[BARRIER_CLOCK] - c[BLOCK_CLOCK], int64(MOST_EPOCHS))
    return (
        (c[BLOCK_LINEAR] << OWNER_BLOCK)
        | (epoch << OWNER_EPOCH)
        | (c[WARP] << OWNER_WARP)
        | (c[LAUNCH] << OWNER_LAUNCH)
    )


@native
def _own(context: int, pattern: int, base: int, kind: int, width: int) -> None:
    """Remembers who stored these words. Of atomics, and of what is narrower than a word, only that it was not they
    who were known so far."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    owners = pointer(c[OWNERS], int64)
    me = _owner(context)
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        words = p[P_ITEM_WORDS + i] if kind == STORE and width >= 4 else int64(0)
        same = (owners[sector] ^ me) >> OWNER_LAUNCH == 0
        owners[sector] = (owners[sector] if same else me) | words


@native
def _disowned(context: int, record: int) -> int:
    """The words of a record that the running warp cannot know to be there: 0 where they are its own, or settled by
    a barrier."""
    c = pointer(context, int64)
    me = _owner(context)
    if (record >> OWNER_LAUNCH) & 255 != c[LAUNCH]:
        return int64(0)
    if (record ^ me) >> OWNER_BLOCK == 0:
        epoch = (record >> OWNER_EPOCH) & MOST_EPOCHS
        if (record ^ me) >> OWNER_WARP == 0 or c[WARPS_WAIT] or epoch == MOST_EPOCHS:
            return int64(0)
        if (record ^ me) >> OWNER_EPOCH != 0:
            return int64(0)
    return record & 255


@native
def _note_race(
    context: int, site: int, addresses: int, mask: int, width: int, sector: int, words: int, record: int
) -> None:
    """Notes the first lane that loads one of these words of a sector."""
    a = pointer(addresses, int64)
    for lane in range(LANES):
        there = (mask >> lane) & 1 and (a[lane] - GLOBAL_BASE) >> 5 == sector
        if there and sector_words(a[lane], width) & words:
            note(context, site, RACE, int64(lane), a[lane], record >> OWNER_WARP)
            return


@native
def _look_for_races(
    context: int, site: int, addresses: int, mask: int, width: int, pattern: int, base: int
) -> None:
    """Whether any word of a load was stored by others in this launch."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    stored = pointer(c[TOUCHED_WRITE], uint8)
    owners = pointer(c[OWNERS], int64)
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        if stored[sector]:
            words = _disowned(context, owners[sector]) & p[P_ITEM_WORDS + i]
            if words:
                _note_race(context, site, addresses, mask, width, sector, words, owners[sector])


@native
def _count_sectors(context: int, site: int, pattern: int, first: int, store: int) -> None:
    """Marks the sectors of one request; loads also count those new to the block."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    base = (first - GLOBAL_BASE) >> 5
    count = p[P_SECTORS]
    if store:
        touched = pointer(c[TOUCHED_WRITE], uint8)
        for i in range(count):
            touched[base + p[P_ITEM_OFFSETS + i]] = 1
        return
    stamps = pointer(c[STAMPS], uint32)
    touched = pointer(c[TOUCHED_READ], uint8)
    serial = uint32(c[BLOCK_SERIAL])
    fresh = int64(0)
    for i in range(count):
        sector = base + p[P_ITEM_OFFSETS + i]
        if stamps[sector] != serial:
            stamps[sector] = serial
            touched[sector] = 1
            fresh += 1
    s = pointer(site, int64)
    s[NEW_SECTORS] += fresh


@native
def _atomic_sectors(addresses: int, mask: int) -> int:
    """Sectors of an atomic: lanes with one address are served one after the other, each round with its own sectors.

    One address for the whole warp is the exception: the compiler lets one lane act for all.
    """
    a = pointer(addresses, int64)
    sectors = int64(0)
    left = mask
    first = a[trailing_zeros(mask)]
    alone = True
    while left:
        served = int64(0)
        for lane in range(LANES):
            if not (left >> lane) & 1:
                continue
            alone = alone and a[lane] == first
            same_address = False
            same_sector = False
            for other in range(lane):
                if (served >> other) & 1:
                    same_address = same_address or a[other] == a[lane]
                    same_sector = same_sector or a[other] >> 5 == a[lane] >> 5
            if not same_address:
                served |= int64(1) << lane
                sectors += 0 if same_sector else 1
        if alone:
            return int64(1)
        left &= ~served
    return sectors


@native
def access_global(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> int:
    """One warp instruction on global memory; `kind` is LOAD, STORE or ATOMIC.

    Counts it, checks every lane, turns the device addresses into host addresses in place, and returns the mask
    of the lanes that may go on.
    """
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    first = fill_inactive(addresses, mask)
    phase = first & 31
    pattern, known = find_pattern(c[PATTERNS_GLOBAL], addresses, first, mask, width, phase)
    if not known:
        describe_global(pattern, addresses, first, mask, width, phase)
    p = pointer(pattern, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += p[P_SECTORS] if kind != ATOMIC else _atomic_sectors(addresses, mask)
    allowed = mask
    inside = first + p[P_LOWEST] >= s[BOUND_LOW] and first + p[P_HIGHEST] + width <= s[BOUND_HIGH]
    if not inside or not p[P_ALIGNED] or first & (width - 1):
        allowed = _check_lanes(context, site, addresses, mask, width)
    if allowed == mask:
        if c[OWNERS]:
            base = (first - GLOBAL_BASE) >> 5
            if kind == LOAD:
                _look_for_races(context, site, addresses, mask, width, pattern, base)
            else:
                _own(context, pattern, base, kind, width)
        _count_sectors(context, site, pattern, first, kind != LOAD)
    delta = c[HOST_DELTA]
    for lane in range(LANES):
        a[lane] += delta
    return allowed


@native
def access_global_uniform(context: int, site: int, address: int, mask: int, width: int) -> int:
    """A load in which all lanes of the mask have one address. Returns the host address, 0 where not allowed."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += 1
    if not check_address(context, site, address, width, trailing_zeros(mask)):
        return int64(0)
    sector = (address - GLOBAL_BASE) >> 5
    if c[OWNERS] and pointer(c[TOUCHED_WRITE], uint8)[sector]:
        record = pointer(c[OWNERS], int64)[sector]
        if _disowned(context, record) & sector_words(address, width):
            note(context, site, RACE, trailing_zeros(mask), address, record >> OWNER_WARP)
    stamps = pointer(c[STAMPS], uint32)
    if stamps[sector] != uint32(c[BLOCK_SERIAL]):
        stamps[sector] = uint32(c[BLOCK_SERIAL])
        touched = pointer(c[TOUCHED_READ], uint8)
        touched[sector] = 1
        s[NEW_SECTORS] += 1
    return address + c[HOST_DELTA]
