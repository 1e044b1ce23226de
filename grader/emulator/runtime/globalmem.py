"""Global and constant memory: bounds, alignment, requests, sectors, and whether threads may have met.

What a launch loads and stores is marked, by sectors and words (or bytes, of narrower stores), and with several threads
of the host as with one: marks only ever come to be set. As long as no word was stored twice, or both stored and loaded
or updated by an atomic, no two threads can have met anywhere, and there is nothing more to find. Nor can they where it
was one thread that did so: where a kernel updates something in place, each sector has an owner. Else there is a
conflict: the launch is undone, and repeated on one thread with every access tracked (tracking.py). So it is where a
lane reads what nobody has ever written, neither before the launch nor in it.
"""

from __future__ import annotations

from numba import int64, uint8, uint32

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    AGAIN,
    ALLOCATION_COUNT,
    ALLOCATIONS,
    ATOMIC,
    BLOCK_LINEAR,
    BLOCK_LOADED,
    BLOCK_SERIAL,
    BOUND_HIGH,
    BOUND_LOW,
    CONFLICT,
    DOUBT_GLOBAL,
    DOUBTFUL,
    FIRST_LOADED,
    GLOBAL_BASE,
    GROUPS,
    HOST_DELTA,
    IN_GLOBAL,
    KEPT,
    LANES,
    LINES,
    LOAD,
    LOADED,
    LOADED_BEFORE_BARRIER,
    MISALIGNED,
    NEVER_WRITTEN,
    NEW_SECTORS,
    OUT_OF_BOUNDS,
    OWNER_BLOCK,
    OWNER_SHARE,
    OWNER_WARP,
    OWNERS,
    P_ALIGNED,
    P_GROUPS,
    P_HIGHEST,
    P_ITEM_OFFSETS,
    P_ITEM_SHARES,
    P_ITEM_WORDS,
    P_LOWEST,
    P_SECTORS,
    P_TOGETHER,
    PATTERNS_GLOBAL,
    READ_ONLY,
    RECORDS,
    REDUCTION,
    REQUESTS,
    SECTORS,
    SEVERAL,
    SHARED,
    STAMP_SERIAL,
    STAMP_TIME,
    STAMPS,
    STORE,
    STORED_TWICE,
    STRONG_LOAD,
    STRONG_STORE,
    TOUCHED_ATOMIC,
    TOUCHED_BYTES,
    TOUCHED_READ,
    TOUCHED_WRITE,
    TRACE,
    UNDO,
    WARP,
    WRITTEN,
)
from grader.emulator.runtime.native import (
    compare_exchange,
    equal_lanes,
    fetch_or,
    keep_offsets,
    lane_buffer,
    outlined,
    pointer,
    population,
    trailing_zeros,
)
from grader.emulator.runtime.options import native
from grader.emulator.runtime.patterns import (
    describe_global,
    fill_inactive,
    find_pattern,
    lane_share,
    lines_of,
    sector_words,
)
from grader.emulator.runtime.races.tracking import before, misses, track, track_lane
from grader.emulator.runtime.spaces.trace import trace, trace_uniform

SECTOR_BITS = 5
SPREAD = 1 << 31  # bytes to either side of an atomic's first sector, as far as offsets of 32 bits reach

access_atomic = outlined("access_atomic")

TIME_FIELD = (1 << STAMP_TIME) - 1
WARP_FIELD = (1 << STAMP_SERIAL - STAMP_TIME) - 1


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
def _claim(context: int, owners: int, sector: int, share: int) -> None:
    """Makes a sector the running warp's where it is nobody's yet. It is shared where it is another's, or where other
    lanes access it, or where it is not known which do (a share of -1). Whoever comes first, that is the same."""
    c = pointer(context, int64)
    at = owners + sector * 8
    owner = pointer(at, int64)
    held = owner[0]
    if held & SHARED:
        return
    if share >= 0:
        mine = (c[BLOCK_LINEAR] + 1) << OWNER_BLOCK | c[WARP] << OWNER_WARP | share << OWNER_SHARE
        if held == 0:
            held = compare_exchange(owner, int64(0), mine)
        if held == 0 or held & ~int64(STORED_TWICE) == mine:
            return
    fetch_or(pointer(at, uint8), uint8(SHARED))


@native
def _claim_sectors(context: int, owners: int, pattern: int, base: int, kind: int) -> None:
    """Of a plain load or store. What is loaded by READ_ONLY may not be stored at all, not even by its owner."""
    p = pointer(pattern, int64)
    for i in range(p[P_SECTORS]):
        share = int64(-1) if kind == READ_ONLY else p[P_ITEM_SHARES + i]
        _claim(context, owners, base + p[P_ITEM_OFFSETS + i], share)


@native
def _stored_again(context: int, sector: int) -> None:
    """A word of a sector is stored that was stored before: a conflict where it is not known by whom."""
    c = pointer(context, int64)
    if c[OWNERS]:
        c[AGAIN] = 1
        fetch_or(pointer(c[OWNERS] + sector * 8, uint8), uint8(STORED_TWICE))
    else:
        c[CONFLICT] = 1


@native
def _first_stores(context: int, sector: int, words: int) -> int:
    """Marks words of a sector as stored, and keeps what they held before. Returns those that were stored before.

    What they hold is read before the mark is set: where another thread of the host stores there at the same time, only
    one of the two finds the mark missing, and it has then read what neither had stored yet.
    """
    c = pointer(context, int64)
    held = pointer(c[HOST_DELTA] + GLOBAL_BASE + sector * 32, int64)
    first, second, third, fourth = held[0], held[1], held[2], held[3]
    before = int64(fetch_or(pointer(c[TOUCHED_WRITE] + sector, uint8), uint8(words)))
    fresh = words & ~(before | int64(pointer(c[TOUCHED_ATOMIC], uint8)[sector]))
    if c[UNDO] and fresh:
        kept = pointer(c[UNDO] + sector * 32, int64)
        if fresh == 255:
            kept[0], kept[1], kept[2], kept[3] = first, second, third, fourth
        else:
            for word in range(8):
                if (fresh >> word) & 1:
                    pair = (first, second, third, fourth)[word >> 1]
                    pointer(c[UNDO], uint32)[sector * 8 + word] = uint32(pair >> (word & 1) * 32)
    return before & words


@native
def _store_words(context: int, pattern: int, base: int) -> None:
    """A plain store of whole words."""
    p = pointer(pattern, int64)
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        if _first_stores(context, sector, p[P_ITEM_WORDS + i]):
            _stored_again(context, sector)


@native
def _store_bytes(context: int, sector: int, bits: int) -> None:
    """A plain store of some bytes of a sector, a bit each."""
    c = pointer(context, int64)
    words = int64(0)
    for word in range(8):
        words |= int64((bits >> 4 * word) & 15 != 0) << word
    bytes_before = int64(fetch_or(pointer(c[TOUCHED_BYTES] + sector * 4, uint32), uint32(bits)))
    before = _first_stores(context, sector, words)
    again = bytes_before & bits != 0
    for word in range(8):
        again |= (before >> word) & 1 != 0 and (bytes_before >> 4 * word) & 15 == 0  # as a whole
    if again:
        _stored_again(context, sector)


@native
def _store_narrow(context: int, addresses: int, mask: int, width: int) -> None:
    """A plain store of less than a word a lane."""
    a = pointer(addresses, int64)
    sector, bits = int64(-1), int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            offset = a[lane] - GLOBAL_BASE
            if offset >> 5 != sector:
                if bits:
                    _store_bytes(context, sector, bits)
                sector, bits = offset >> 5, int64(0)
            bits |= ((int64(1) << width) - 1) << (offset & 31)
    _store_bytes(context, sector, bits)


@native
def _update_words(
    context: int, site: int, addresses: int, mask: int, width: int, sector: int, words: int, kind: int
) -> None:
    """Of an atomic, or a strong store, by the lanes of the mask: marks its words of a sector, and keeps what they held
    before."""
    c = pointer(context, int64)
    updated = pointer(c[TOUCHED_ATOMIC], uint8)
    fresh = words & ~(int64(updated[sector]) | int64(pointer(c[TOUCHED_WRITE], uint8)[sector]))
    if fresh and kind != STRONG_STORE and c[WRITTEN] and fresh & ~int64(pointer(c[WRITTEN], uint8)[sector]):
        _note_unwritten(context, site, addresses, mask, width)
    updated[sector] = uint8(int64(updated[sector]) | words)
    if c[UNDO] and fresh:
        for word in range(8):
            if (fresh >> word) & 1:
                place = sector * 8 + word
                held = pointer(c[HOST_DELTA] + GLOBAL_BASE, uint32)[place]
                pointer(c[UNDO], uint32)[place] = held


@native
def _mark(
    context: int, site: int, pattern: int, addresses: int, mask: int, width: int, base: int, kind: int
) -> None:
    """Marks what a request that is no atomic has loaded or stored, and where accesses are tracked looks for races."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    loads = kind in (LOAD, STRONG_LOAD, READ_ONLY)
    if loads:
        if _count_sectors(context, site, pattern, base):
            _note_unwritten(context, site, addresses, mask, width)
    elif kind != STORE:
        for i in range(p[P_SECTORS]):
            sector, words = base + p[P_ITEM_OFFSETS + i], p[P_ITEM_WORDS + i]
            _update_words(context, site, addresses, mask, width, sector, words, kind)
    else:
        if p[P_TOGETHER]:
            c[CONFLICT] = 1
        if width < 4:
            _store_narrow(context, addresses, mask, width)
        else:
            _store_words(context, pattern, base)
    if c[OWNERS] and (loads or kind == STORE):
        _claim_sectors(context, c[OWNERS], pattern, base, kind)
    if c[RECORDS]:
        if kind == STORE:
            c[DOUBTFUL] |= DOUBT_GLOBAL
        else:
            track(context, site, addresses, mask, width, kind)


@native
def _mark_loaded(read: int, written: int, sector: int, words: int) -> int:
    """Given what TOUCHED_READ and WRITTEN hold. Returns those of the words that were not written before the launch,
    where they are loaded for the first time."""
    if not words & ~int64(pointer(read, uint8)[sector]):
        return int64(0)
    if words == 255:  # then it does not matter what other threads of the host mark meanwhile
        pointer(read, uint8)[sector] = uint8(words)
    else:
        fetch_or(pointer(read + sector, uint8), uint8(words))
    return words & ~int64(pointer(written, uint8)[sector]) if written else int64(0)


@native
def _unwritten(context: int, sector: int) -> int:
    """The words of a sector that nobody has written before the launch, nor in it."""
    c = pointer(context, int64)
    before = int64(pointer(c[WRITTEN], uint8)[sector])
    return ~(
        before | int64(pointer(c[TOUCHED_WRITE], uint8)[sector] | pointer(c[TOUCHED_ATOMIC], uint8)[sector])
    )


@native
def _note_unwritten(context: int, site: int, addresses: int, mask: int, width: int) -> None:
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            _note_if_unwritten(context, site, a[lane], width, lane)


@native
def _note_if_unwritten(context: int, site: int, address: int, width: int, lane: int) -> None:
    """A finding where nobody has written any of the words that a lane reads: what it reads beside others, as vectors do
    at the end of an array, may be of no use to it. Words are told once: they count as written from then on."""
    c = pointer(context, int64)
    sector, words = (address - GLOBAL_BASE) >> 5, sector_words(address & 31, width)
    if words & ~_unwritten(context, sector):
        return
    if c[RECORDS]:
        note(context, site, NEVER_WRITTEN, lane, address, width)
        marks = pointer(c[WRITTEN] + sector, uint8)
        marks[0] = uint8(int64(marks[0]) | words)
    else:
        c[CONFLICT] = 1


@native
def _count_sectors(context: int, site: int, pattern: int, base: int) -> int:
    """Marks the words of a load, and counts the sectors that are new to the block, or no longer in the L1 cache.
    Returns whether there may be words that nobody has written before."""
    c = pointer(context, int64)
    p = pointer(pattern, int64)
    read, written = c[TOUCHED_READ], c[WRITTEN]
    fresh, unwritten = int64(0), int64(0)
    for i in range(p[P_SECTORS]):
        sector = base + p[P_ITEM_OFFSETS + i]
        unwritten |= _mark_loaded(read, written, sector, p[P_ITEM_WORDS + i])
        fresh += _stamp(context, sector)
    c[LOADED] += p[P_SECTORS]
    s = pointer(site, int64)
    s[NEW_SECTORS] += fresh
    return unwritten


@native
def _stamp(context: int, sector: int) -> int:
    """Stamps a sector that is loaded. 1 where it comes from L2: the block has not loaded it before, or its share of L1
    has been filled with others since.

    Blocks run warp after warp, which on a GPU run at the same time: how long ago another warp has loaded it is known
    only where a barrier lies between.
    """
    c = pointer(context, int64)
    stamps = pointer(c[STAMPS], int64)
    before, own = stamps[sector], c[BLOCK_SERIAL] << STAMP_SERIAL
    stamps[sector] = own | c[WARP] << STAMP_TIME | c[LOADED] & TIME_FIELD
    if before >> STAMP_SERIAL != own >> STAMP_SERIAL:
        c[FIRST_LOADED] += 1
        c[BLOCK_LOADED] += 1
        return int64(1)
    age = c[LOADED] - before & TIME_FIELD
    settled = age > c[LOADED] - c[LOADED_BEFORE_BARRIER] or before >> STAMP_TIME & WARP_FIELD == c[WARP]
    return int64(age > c[KEPT] and settled)


@native
def _find_sectors(addresses: int, mask: int, width: int, words: int, rounds: int) -> int:
    """The lowest lane in each of the sectors that close lanes update. For it, to `words`: which words of the sector
    they update, a bit each; to `rounds`: how often the sector is accessed, as lanes with one address are served one
    after the other, each round with its own sectors.

    All lanes are compared at a time, by offsets of 32 bits, and no branch depends on their addresses: those of a
    histogram cannot be foretold.
    """
    a = pointer(addresses, int64)
    offsets, sectors = lane_buffer(), lane_buffer()
    start = (a[trailing_zeros(mask)] >> SECTOR_BITS << SECTOR_BITS) - SPREAD
    keep_offsets(addresses, start, 0, offsets)
    keep_offsets(addresses, start, SECTOR_BITS, sectors)
    w, r = pointer(words, int64), pointer(rounds, int64)
    for lane in range(LANES):
        w[lane] = 0
        r[lane] = 0
    found = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            lowest = trailing_zeros(equal_lanes(sectors, pointer(sectors, uint32)[lane]) & mask)
            together = population(equal_lanes(offsets, pointer(offsets, uint32)[lane]) & mask)
            found |= int64(1) << lowest
            w[lowest] |= sector_words(a[lane], width)
            r[lowest] = max(r[lowest], together)
    return found


@native
def _close_lanes(addresses: int, mask: int) -> int:
    """Those lanes of the mask whose sectors lie up to SPREAD bytes from that of its first one: mostly all."""
    a = pointer(addresses, int64)
    start = (a[trailing_zeros(mask)] >> SECTOR_BITS << SECTOR_BITS) - SPREAD
    far = int64(0)
    for lane in range(LANES):
        far |= a[lane] - start & ~(2 * SPREAD - 1)
    if far == 0:
        return mask
    for lane in range(LANES):
        if a[lane] - start & ~(2 * SPREAD - 1):
            mask &= ~(int64(1) << lane)
    return mask


@native
def atomic_sectors(addresses: int, mask: int, width: int) -> int:
    """Sectors of an atomic, each as often as it is accessed."""
    words, rounds = lane_buffer(), lane_buffer()
    count = int64(0)
    while mask:
        close = _close_lanes(addresses, mask)
        mask ^= close
        found = _find_sectors(addresses, close, width, words, rounds)
        while found:
            count += pointer(rounds, int64)[trailing_zeros(found)]
            found &= found - 1
    return count


@native
def count_prefetch(site: int, addresses: int, mask: int) -> None:
    """Sectors that a warp prefetches, each once. Nobody asks whether there is such memory."""
    a = pointer(addresses, int64)
    for lane in range(LANES):
        fresh = (mask >> lane) & 1
        for other in range(lane):
            if (mask >> other) & 1 and a[other] >> SECTOR_BITS == a[lane] >> SECTOR_BITS:
                fresh = int64(0)
        pointer(site, int64)[SECTORS] += fresh


@native
def update_global(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> int:
    """Counts, checks and marks an atomic. Returns the lanes that may go on.

    Its shape is not looked up: those of a histogram hardly ever come again.
    """
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    lowest, highest, together = a[0], a[0], int64(0)
    for lane in range(LANES):
        lowest = min(lowest, a[lane])
        highest = max(highest, a[lane])
        together |= a[lane]
    allowed = mask
    if lowest < s[BOUND_LOW] or highest + width > s[BOUND_HIGH] or together & (width - 1):
        allowed = _check_lanes(context, site, addresses, mask, width)
    words, rounds = lane_buffer(), lane_buffer()
    left = mask
    while left:
        close = _close_lanes(addresses, left)
        left ^= close
        found = _find_sectors(addresses, close, width, words, rounds)
        while found:
            lane = trailing_zeros(found)
            found &= found - 1
            s[SECTORS] += pointer(rounds, int64)[lane]
            sector, updates = (a[lane] - GLOBAL_BASE) >> SECTOR_BITS, pointer(words, int64)[lane]
            if allowed == mask and updates & ~int64(pointer(c[TOUCHED_ATOMIC], uint8)[sector]):
                _update_words(context, site, addresses, mask, width, sector, updates, kind)
    if allowed == mask and c[RECORDS]:
        track(context, site, addresses, mask, width, kind)
    return allowed


@native
def _access_pattern(
    context: int, site: int, addresses: int, first: int, mask: int, width: int, kind: int
) -> int:
    """Counts, checks and marks what is no atomic. Returns the lanes that may go on."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    phase = first & 31
    pattern, known = find_pattern(c[PATTERNS_GLOBAL], addresses, first, mask, width, phase)
    if not known:
        describe_global(pattern, addresses, first, mask, width, phase)
    p = pointer(pattern, int64)
    s[SECTORS] += p[P_SECTORS]
    s[GROUPS] += p[P_GROUPS]
    s[LINES] += lines_of(pattern, (first >> 5) & 3)
    allowed = mask
    inside = first + p[P_LOWEST] >= s[BOUND_LOW] and first + p[P_HIGHEST] + width <= s[BOUND_HIGH]
    if not inside or not p[P_ALIGNED] or first & (width - 1):
        allowed = _check_lanes(context, site, addresses, mask, width)
    if allowed == mask:
        _mark(context, site, pattern, addresses, mask, width, (first - GLOBAL_BASE) >> 5, kind)
    return allowed


@native
def access_global(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> int:
    """One warp instruction on global memory; `kind` says how (layout.py).

    Counts it, checks every lane, turns the device addresses into host addresses in place, and returns the mask
    of the lanes that may go on.
    """
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    first = fill_inactive(addresses, mask)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    if kind in (ATOMIC, REDUCTION):
        allowed = access_atomic(context, site, addresses, mask, width, kind)
    else:
        allowed = _access_pattern(context, site, addresses, first, mask, width, kind)
    if c[TRACE]:
        trace(context, int64(IN_GLOBAL), addresses, allowed, width, kind)
    delta = c[HOST_DELTA]
    for lane in range(LANES):
        a[lane] += delta
    return allowed


@native
def access_global_uniform(context: int, site: int, address: int, mask: int, width: int, kind: int) -> int:
    """A load in which all lanes of the mask have one address. Returns the host address, 0 where not allowed."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += 1
    s[GROUPS] += max(width >> 2, 1)
    s[LINES] += 1
    if not check_address(context, site, address, width, trailing_zeros(mask)):
        return int64(0)
    if c[TRACE]:
        trace_uniform(context, int64(IN_GLOBAL), address, mask, width, kind)
    sector = (address - GLOBAL_BASE) >> 5
    words = sector_words(address & 31, width)
    if _mark_loaded(c[TOUCHED_READ], c[WRITTEN], sector, words):
        _note_if_unwritten(context, site, address, width, trailing_zeros(mask))
    s[NEW_SECTORS] += _stamp(context, sector)
    c[LOADED] += 1
    lane = trailing_zeros(mask) if mask & (mask - 1) == 0 else int64(SEVERAL)
    if c[OWNERS]:
        share = int64(-1) if lane == SEVERAL or kind == READ_ONLY else lane_share(lane)
        _claim(context, c[OWNERS], sector, share)
    if c[RECORDS]:
        if misses(context, address, width, lane, kind):
            return address + before(context) + c[HOST_DELTA]
        track_lane(context, site, address, width, lane, kind)
    return address + c[HOST_DELTA]
