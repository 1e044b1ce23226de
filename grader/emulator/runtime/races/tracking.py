"""Global memory with every access tracked: who stored and loaded each granule last, and whether that is ordered.

Two accesses to a granule race when one of them is a plain store, the other a store, an atomic or a plain load,
and nothing orders them (ordering.py). Of loads the last two by different warps are kept. Stores of the value that is
there already are no race: whoever comes first, memory holds the same. Nor is a plain load of what an atomic or another
strong store has left, without which no thread could look before it tries; whether it matters when the load happens is
seen by running the blocks in other orders.

In one of them (machine/orders.py) a load misses the last strong store or atomic of another warp, once, where nothing
orders it behind: the first that comes there gets what was there before, as PTX's memory model allows. Whoever waits
for a value looks again; data that is read behind a flag, without a fence between the two stores, is not what it should
be.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ARENA_BYTES,
    ATOMIC,
    BLOCK_LINEAR,
    BLOCK_NUMBERS,
    BLOCK_SCOPE,
    DOUBT_GLOBAL,
    DOUBT_SHARED,
    DOUBTFUL,
    GLOBAL_BASE,
    HOST_DELTA,
    LANE_FIELD,
    LANES,
    LOAD,
    OF_BLOCK,
    PREVIOUS,
    PROGRESS,
    R_EARLIER,
    R_LOAD,
    R_READ,
    R_STORE,
    R_STRONG,
    RACE,
    READ_ONLY,
    RECORD_BLOCK,
    RECORD_BYTES,
    RECORD_SHIFT,
    RECORD_TIME,
    RECORDS,
    REDUCTION,
    SCOPED,
    SEEN,
    SEVERAL,
    STORED_AGAIN,
    STORED_READ_ONLY,
    STRONG_LOAD,
    STRONG_STORE,
    W_EXCHANGE,
    WARP,
    WARP_BYTES,
    WARP_SHIFT,
    WARP_STATES,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import acquire, ordered, recorded, release, sync_clock

settle_stores = outlined("settle_stores")


@native
def track(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> None:
    """One warp instruction that is no plain store; addresses are the device's. Those of loads that miss the last store
    become those of what was there before."""
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            if misses(context, a[lane], width, int64(lane), kind):
                if kind == STRONG_LOAD:  # the store before the last one may be another's release
                    acquire(context, a[lane])
                a[lane] += before(context)
                continue
            track_lane(context, site, a[lane], width, int64(lane), kind)


@native
def track_lane(context: int, site: int, address: int, width: int, lane: int, kind: int) -> None:
    """The access of one lane, or of SEVERAL that load from one address."""
    c = pointer(context, int64)
    synchronised = sync_clock(context)
    if kind in (ATOMIC, STRONG_LOAD):
        acquire(context, address)
    other = int64(0)
    first = address - GLOBAL_BASE >> c[RECORD_SHIFT]
    last = address - GLOBAL_BASE + width - 1 >> c[RECORD_SHIFT]
    for granule in range(first, last + 1):
        records = c[RECORDS] + granule * RECORD_BYTES
        r = pointer(records, int64)
        if kind == READ_ONLY and (r[R_STORE] | r[R_STRONG]) != 0:
            note(context, site, STORED_READ_ONLY, lane, address, max(r[R_STORE], _plain(r[R_STRONG])))
            return
        if not ordered(context, r[R_STORE], lane, synchronised):
            other = r[R_STORE]
        elif r[R_STRONG] and kind not in (LOAD, READ_ONLY) and _too_narrow(context, site, r[R_STRONG], lane):
            other = _plain(r[R_STRONG]) | SCOPED
        if kind == LOAD:
            _loaded(context, records, lane)
        elif kind in (ATOMIC, REDUCTION, STRONG_STORE):
            if c[PREVIOUS]:
                _keep(context, granule)
            r[R_STRONG] = recorded(context, lane) | (
                OF_BLOCK if pointer(site, int64)[BLOCK_SCOPE] else int64(0)
            )
    if other:
        note(context, site, RACE, lane, address, other)
    if kind in (ATOMIC, REDUCTION, STRONG_STORE):
        release(context, address, int64(kind == STRONG_STORE))


@native
def _plain(strong: int) -> int:
    """The record of a strong access without what is said besides."""
    return strong & ~int64(OF_BLOCK | SEEN)


@native
def _too_narrow(context: int, site: int, strong: int, lane: int) -> bool:
    """Whether a strong access meets another one by another block, and one of the two is for threads of its own block
    alone: then they are no atomic accesses to each other (PTX ISA 8.7, morally strong)."""
    narrow = strong < 0 or pointer(site, int64)[BLOCK_SCOPE] != 0
    if not narrow or not _other_block(context, strong):
        return False
    return not ordered(context, _plain(strong), lane, sync_clock(context))


@native
def before(context: int) -> int:
    """From a device address to where it is kept what was there before the last strong store, less HOST_DELTA."""
    c = pointer(context, int64)
    return c[PREVIOUS] - GLOBAL_BASE - c[HOST_DELTA]


@native
def _keep(context: int, granule: int) -> None:
    """Keeps what a granule holds."""
    c = pointer(context, int64)
    first = granule << c[RECORD_SHIFT]
    now, kept = pointer(c[HOST_DELTA] + GLOBAL_BASE + first, uint8), pointer(c[PREVIOUS] + first, uint8)
    for byte in range(1 << c[RECORD_SHIFT]):
        kept[byte] = now[byte]


@native
def misses(context: int, address: int, width: int, lane: int, kind: int) -> bool:
    """Whether a load by a lane, or by SEVERAL, gets what was there before the last strong store."""
    c = pointer(context, int64)
    if c[PREVIOUS] == 0 or kind not in (LOAD, STRONG_LOAD):
        return False
    first = address - GLOBAL_BASE >> c[RECORD_SHIFT]
    last = address - GLOBAL_BASE + width - 1 >> c[RECORD_SHIFT]
    found = False
    for granule in range(first, last + 1):
        found |= _unseen(context, granule, lane)
    if not found:
        return False
    for granule in range(first, last + 1):
        if not _unseen(context, granule, lane):
            _keep(context, granule)
        pointer(c[RECORDS] + granule * RECORD_BYTES, int64)[R_STRONG] |= SEEN
    return True


@native
def _unseen(context: int, granule: int, lane: int) -> bool:
    """Whether the last strong store to a granule is another warp's that nobody has seen and nothing orders."""
    c = pointer(context, int64)
    strong = pointer(c[RECORDS] + granule * RECORD_BYTES, int64)[R_STRONG]
    if strong & SEEN or ordered(context, _plain(strong), lane, sync_clock(context)):
        return False
    return _other_warp(strong, recorded(context, lane))


@native
def _other_warp(one: int, other: int) -> bool:
    """Whether two records are of different warps."""
    return ((one ^ other) & ((int64(1) << RECORD_TIME) - 1)) >> WARP_SHIFT != 0


@native
def _loaded(context: int, records: int, lane: int) -> None:
    """Keeps a load: the last one, and the last one by another warp."""
    r = pointer(records, int64)
    me = recorded(context, lane)
    last = r[R_LOAD]
    if last and _other_warp(last, me):
        r[R_EARLIER] = last
    elif last & LANE_FIELD != lane and not ordered(context, last, lane, sync_clock(context)):
        me = (me & ~LANE_FIELD) | SEVERAL
    r[R_LOAD] = me


@native
def _in_arena(context: int, host: int) -> bool:
    c = pointer(context, int64)
    offset = host - c[HOST_DELTA] - GLOBAL_BASE
    return 0 <= offset < c[ARENA_BYTES]


@native
def element_of(values: int, element: int, width: int, lane: int) -> int:
    """Where a lane's element lies among the values of a store."""
    return values + (element * LANES + lane) * width


@native
def same(one: int, other: int, width: int) -> bool:
    a = pointer(one, uint8)
    b = pointer(other, uint8)
    differing = 0
    for byte in range(width):
        differing |= a[byte] ^ b[byte]
    return differing == 0


@native
def lower_lane(addresses: int, mask: int, lane: int) -> int:
    """The lowest lane of the instruction that stores at the same address."""
    a = pointer(addresses, int64)
    for other in range(lane):
        if (mask >> other) & 1 and a[other] == a[lane]:
            return int64(other)
    return lane


@native
def _unordered(context: int, records: int, lane: int) -> int:
    """The record of an access that a store by the running warp's lane races with; 0 where there is none."""
    r = pointer(records, int64)
    for kind in range(R_LOAD):
        if not ordered(context, _plain(r[kind]), lane, sync_clock(context)):
            return _plain(r[kind])
    c = pointer(context, int64)
    # What a lane loads before a shuffle or a vote is there before others go on: its value may be what they get.
    exchanged = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)[W_EXCHANGE]
    for kind in range(R_LOAD, R_EARLIER + 1):
        if not ordered(context, r[kind], lane, max(sync_clock(context), exchanged)):
            return r[kind] | int64(R_READ)
    return int64(0)


@native
def track_stores(
    context: int, site: int, addresses: int, values: int, mask: int, width: int, count: int
) -> None:
    """A plain store that is about to be done; addresses are the host's, those of other memory than global among them.
    A lane stores `count` elements of `width` bytes; where `values` is 0 they are not known."""
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    doubt, c[DOUBTFUL] = c[DOUBTFUL], 0
    if doubt & DOUBT_SHARED:
        settle_stores(context, site, addresses, values, mask, width, count)
    for lane in range(LANES if doubt & DOUBT_GLOBAL else 0):
        if (mask >> lane) & 1 and _in_arena(context, a[lane]):
            lower = lower_lane(addresses, mask, int64(lane))
            other = int64(0)
            for element in range(count):
                place = a[lane] + element * width
                mine = element_of(values, int64(element), width, int64(lane))
                met = int64(0)
                if lower == lane:
                    changes = not same(place, mine, width)
                    c[PROGRESS] += int64(changes)
                    met = _stored(context, place, width, int64(lane), changes)
                elif not same(element_of(values, int64(element), width, lower), mine, width):
                    met = recorded(context, lower)
                if met and not other:
                    note(context, site, RACE, int64(lane), place - c[HOST_DELTA], met)
                    other = met


@native
def _other_block(context: int, record: int) -> bool:
    return ((record >> RECORD_BLOCK) ^ pointer(context, int64)[BLOCK_LINEAR]) & (BLOCK_NUMBERS - 1) != 0


@native
def _stored(context: int, place: int, width: int, lane: int, changes: bool) -> int:
    """Keeps a lane's store of one element, and returns the record that it races with, if it `changes` anything."""
    c = pointer(context, int64)
    offset = place - c[HOST_DELTA] - GLOBAL_BASE
    other = int64(0)
    for granule in range(offset >> c[RECORD_SHIFT], (offset + width - 1 >> c[RECORD_SHIFT]) + 1):
        records = c[RECORDS] + granule * RECORD_BYTES
        r = pointer(records, int64)
        if not changes:
            new = _other_block(context, r[R_STORE]) and not ordered(
                context, r[R_STORE], lane, sync_clock(context)
            )
            c[STORED_AGAIN] += int64(new)
        elif other == 0:
            other = _unordered(context, records, lane)
        r[R_STORE] = recorded(context, lane)
        r[R_LOAD] = 0
        r[R_EARLIER] = 0
    return other
