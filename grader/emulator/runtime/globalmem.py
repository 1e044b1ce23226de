"""Global and constant memory: bounds, alignment, requests, sectors, and reads of what others store meanwhile.

The last writer of each word is kept for as long as the launch lasts. A thread that loads what another block has
stored, or another warp of its block since the last barrier, races with it. Where a kernel has means to wait for that
(atomics, fences, volatile accesses), warps of a block are not looked at, and what another block has stored may be
loaded once that block has executed a fence behind the store. In all other kernels, a store of another value over what
others have stored in the same way is a race as well.
"""

from __future__ import annotations

from numba import int64, uint8, uint32

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    ALLOCATION_COUNT,
    ALLOCATIONS,
    ATOMIC,
    BARRIER_CLOCK,
    BLOCK_CLOCK,
    BLOCK_LINEAR,
    BLOCK_NUMBERS,
    BLOCK_SERIAL,
    BOUND_HIGH,
    BOUND_LOW,
    COMPARED,
    DOUBTFUL,
    FENCES,
    GLOBAL_BASE,
    HOST_DELTA,
    LANES,
    LAST_WRITERS,
    LOAD,
    MISALIGNED,
    MOST_EPOCHS,
    NEW_SECTORS,
    NO_WRITER,
    OUT_OF_BOUNDS,
    P_ALIGNED,
    P_HIGHEST,
    P_ITEM_OFFSETS,
    P_ITEM_WORDS,
    P_LOWEST,
    P_SECTORS,
    P_TOGETHER,
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
    WRITER_BLOCK,
    WRITER_EPOCH,
)
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
def note_fence(context: int) -> None:
    """What the block has stored so far may be loaded by others from here on."""
    c = pointer(context, int64)
    if c[FENCES]:
        pointer(c[FENCES], int64)[c[BLOCK_LINEAR] & (BLOCK_NUMBERS - 1)] += 1


@native
def _fences(context: int, block: int) -> int:
    return min(pointer(pointer(context, int64)[FENCES], int64)[block], int64(MOST_EPOCHS))


@native
def _writer(context: int) -> int:
    """The running warp as the last writer of the words that it stores."""
    c = pointer(context, int64)
    block = c[BLOCK_LINEAR] & (BLOCK_NUMBERS - 1)
    barriers = c[BARRIER_CLOCK] - c[BLOCK_CLOCK]
    epoch = _fences(context, block) if c[FENCES] else min(barriers, int64(MOST_EPOCHS))
    return (block << WRITER_BLOCK) | (epoch << WRITER_EPOCH) | c[WARP]


@native
def _unordered(context: int, writer: int, me: int) -> bool:
    """Whether the running warp cannot know that what another has stored is there."""
    c = pointer(context, int64)
    if writer in (me, NO_WRITER):
        return False
    epoch = (writer >> WRITER_EPOCH) & MOST_EPOCHS
    if (writer ^ me) >> WRITER_BLOCK != 0:
        return c[FENCES] == 0 or (epoch != MOST_EPOCHS and epoch == _fences(context, writer >> WRITER_BLOCK))
    if c[WARPS_WAIT] or ((writer ^ me) & (1 << WRITER_EPOCH) - 1) == 0 or epoch == MOST_EPOCHS:
        return False
    return (writer ^ me) >> WRITER_EPOCH == 0


@native
def _first_unordered(context: int, me: int, writers: int, words: int) -> int:
    """The first of these words of a sector that others have stored without order; 8 where none is."""
    pairs = pointer(writers, int64)
    twice = me | me << 32
    if not (pairs[0] ^ twice) | (pairs[1] ^ twice) | (pairs[2] ^ twice) | (pairs[3] ^ twice):
        return int64(8)  # mostly a sector is one warp's
    while words:
        word = trailing_zeros(words)
        if _unordered(context, int64(pointer(writers, uint32)[word]), me):
            return word
        words &= words - 1
    return int64(8)


@native
def _remember(context: int, pattern: int, base: int, writer: int, compared: bool) -> bool:
    """Marks the words of a store as stored, and their last writer. False where the store is `compared` and may put
    another value over one that others have stored; it is then left to `compare_stores`."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    touched = pointer(c[TOUCHED_WRITE], uint8)
    all_writers = c[LAST_WRITERS]
    twice = writer | writer << 32
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        words = p[P_ITEM_WORDS + i]
        writers = all_writers + sector * 32
        before = int64(touched[sector])
        if compared and before & words and _first_unordered(context, writer, writers, before & words) < 8:
            return False
        touched[sector] = uint8(before | words)
        if words == 255:
            pairs = pointer(writers, int64)
            pairs[0] = twice
            pairs[1] = twice
            pairs[2] = twice
            pairs[3] = twice
        else:
            while words:
                pointer(writers, uint32)[trailing_zeros(words)] = uint32(writer)
                words &= words - 1
    return True


@native
def _store(context: int, pattern: int, base: int, kind: int, width: int) -> None:
    """Remembers a store; one that has to be looked at with its values is left to `compare_stores`."""
    c = pointer(context, int64)
    plain = kind == COMPARED or (kind == STORE and width >= 4)
    compared = kind == COMPARED and c[FENCES] == 0
    together = compared and pointer(pattern, int64)[P_TOGETHER] != 0
    writer = _writer(context) if plain else int64(NO_WRITER)
    if together or not _remember(context, pattern, base, writer, compared):
        c[DOUBTFUL] = 1


@native
def _note_race(
    context: int, site: int, addresses: int, mask: int, width: int, sector: int, word: int
) -> None:
    """Notes the first lane that accesses this word of a sector, with the word's last writer."""
    a = pointer(addresses, int64)
    writer = int64(pointer(pointer(context, int64)[LAST_WRITERS], uint32)[sector * 8 + word])
    for lane in range(LANES):
        there = (mask >> lane) & 1 and (a[lane] - GLOBAL_BASE) >> 5 == sector
        if there and (sector_words(a[lane], width) >> word) & 1:
            note(context, site, RACE, int64(lane), a[lane], writer)
            return


@native
def _look_for_races(
    context: int, site: int, addresses: int, mask: int, width: int, pattern: int, base: int
) -> None:
    """Whether any word of a load was stored by others in this launch."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    stored = pointer(c[TOUCHED_WRITE], uint8)
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        words = int64(stored[sector]) & p[P_ITEM_WORDS + i]
        if words:
            word = _first_unordered(context, _writer(context), c[LAST_WRITERS] + sector * 32, words)
            if word < 8:
                _note_race(context, site, addresses, mask, width, sector, word)


@native
def compare_stores(
    context: int, site: int, addresses: int, values: int, mask: int, width: int, count: int
) -> None:
    """Looks at a doubtful store before it is done, and remembers it: notes the first lane that puts another value
    over what others have stored. Addresses are the host's; a lane stores `count` elements of `width` bytes."""
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    v = pointer(values, uint32)
    touched = pointer(c[TOUCHED_WRITE], uint8)
    writers = pointer(c[LAST_WRITERS], uint32)
    me = _writer(context)
    words = width >> 2
    c[DOUBTFUL] = 0
    silent = False
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        address = a[lane] - c[HOST_DELTA]
        before = pointer(a[lane], uint32)
        for i in range(count * words):
            value = v[(i // words * LANES + lane) * words + i % words]
            word = (address - GLOBAL_BASE >> 2) + i
            stored = (touched[word >> 3] >> (word & 7)) & 1
            differs = stored and before[i] != value and _unordered(context, int64(writers[word]), me)
            for other in range(lane):
                if (mask >> other) & 1 and a[other] == a[lane]:
                    differs = differs or v[(i // words * LANES + other) * words + i % words] != value
            if differs and not silent:
                before_it = int64(writers[word]) if stored else me
                note(context, site, RACE, int64(lane), address + 4 * i, before_it)
                silent = True
    for lane in range(LANES):
        if (mask >> lane) & 1:
            first = a[lane] - c[HOST_DELTA] - GLOBAL_BASE >> 2
            for word in range(first, first + count * words):
                touched[word >> 3] |= uint8(int64(1) << (word & 7))
                writers[word] = uint32(me)


@native
def _count_sectors(context: int, site: int, pattern: int, base: int) -> None:
    """Marks the sectors of a load, and counts those new to the block."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    stamps = pointer(c[STAMPS], uint32)
    touched = pointer(c[TOUCHED_READ], uint8)
    serial = uint32(c[BLOCK_SERIAL])
    fresh = int64(0)
    for i in range(p[P_SECTORS]):
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
    """One warp instruction on global memory; `kind` is LOAD, STORE, ATOMIC, STRONG or COMPARED.

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
        base = (first - GLOBAL_BASE) >> 5
        if kind == LOAD:
            _look_for_races(context, site, addresses, mask, width, pattern, base)
            _count_sectors(context, site, pattern, base)
        else:
            _store(context, pattern, base, kind, width)
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
    words = int64(pointer(c[TOUCHED_WRITE], uint8)[sector]) & sector_words(address, width)
    if words:
        word = _first_unordered(context, _writer(context), c[LAST_WRITERS] + sector * 32, words)
        if word < 8:
            writer = int64(pointer(c[LAST_WRITERS], uint32)[sector * 8 + word])
            note(context, site, RACE, trailing_zeros(mask), address, writer)
    stamps = pointer(c[STAMPS], uint32)
    if stamps[sector] != uint32(c[BLOCK_SERIAL]):
        stamps[sector] = uint32(c[BLOCK_SERIAL])
        touched = pointer(c[TOUCHED_READ], uint8)
        touched[sector] = 1
        s[NEW_SECTORS] += 1
    return address + c[HOST_DELTA]
