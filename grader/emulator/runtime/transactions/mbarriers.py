"""mbarriers (PTX ISA 9.7.13.15): phases that complete when all arrivals and all bytes expected of them have come.

The state of an mbarrier is kept beside shared memory, by its place there; what it publishes is there as well: a waiting
warp learns what those had done that arrived at the phase, and what its copies have written. Copies arrive as late as
they may, when somebody waits for the phase and only they are missing, so that a missing wait shows.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.peers import NOWHERE, come_back, enter
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ARRIVAL,
    ASYNC_WARP,
    ASYNC_WARPS,
    BLOCK_CLOCK,
    CLOCK,
    DROPS,
    EXPECTS,
    FINDING_ADDRESS,
    FINDING_COUNT,
    FINDING_SLOTS,
    FINDINGS,
    HERE,
    IN_FLIGHT,
    IN_USE,
    INCOMPLETE,
    INIT_AT,
    KNOWN_COUNT,
    LANE_FIELD,
    LANES,
    M_ARRIVED,
    M_BYTES,
    M_COMERS,
    M_DEFERRED,
    M_EXPECTED,
    M_INIT,
    M_KEY,
    M_NOW,
    M_PATH,
    M_PATH_THEN,
    M_PENDING,
    M_PHASE,
    M_SEEN,
    M_SKIPPED,
    M_VALID,
    M_WAITERS,
    MANY_MBARRIERS,
    MBARRIER_ENTRY,
    MBARRIERS,
    MISALIGNED,
    MOST_ARRIVALS,
    NO_MBARRIER,
    NO_ROOM,
    OTHER_BYTES,
    OUT_OF_BOUNDS,
    OVERRUN,
    PHASE_FIELD,
    RACE,
    RANK,
    RANK_SHIFT,
    RANK_WARPS,
    REFILLED,
    RELAXED,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_WINDOW,
    SITE_SLOTS,
    SITES,
    STORE,
    TOKEN_COUNT,
    TRANSACTIONS,
    U_BYTES,
    U_KIND,
    U_MBARRIER,
    U_OWNER,
    U_SITE,
    W_LIVE,
    WARP,
    WARP_BYTES,
    WARP_SHIFT,
    WARP_STATES,
    WARPS,
    X_COPIES,
    X_GROUPS,
    X_MBARRIERS,
    X_STEPS,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity, other_access
from grader.emulator.runtime.races.knowledge import join, knowledge
from grader.emulator.runtime.races.ordering import sync_clock
from grader.emulator.runtime.races.paths import path
from grader.emulator.runtime.sharedmem import _unordered
from grader.emulator.runtime.spaces.shared_use import settle_interval
from grader.emulator.runtime.transactions.queue import place
from grader.emulator.runtime.transactions.under_way import defer_arrival, deliver

MBARRIER_BYTES = 8
observe, shadow = outlined("observe"), outlined("shadow")


@native
def begin_transactions(context: int) -> None:
    """For a block that begins: no mbarriers, no copies, nobody waits."""
    x = pointer(pointer(context, int64)[TRANSACTIONS], int64)
    c = pointer(context, int64)
    for slot in range(X_GROUPS):
        x[slot] = 0
    for entry in range(MBARRIERS):
        pointer(c[TRANSACTIONS] + X_MBARRIERS * 8 + entry * c[MBARRIER_ENTRY], int64)[M_KEY] = 0
    for thread in range(LANES * LANES):
        x[X_GROUPS + thread] = 0


@native
def shared_offset(address: int) -> int:
    """The offset in shared memory of an address of its own, or a generic one."""
    return address - SHARED_WINDOW if address >= SHARED_WINDOW else address


@native
def of_phase(number: int, expected: int, arrived: int) -> int:
    """What a finding keeps of a phase."""
    most = int64((1 << PHASE_FIELD) - 1)
    return (number & most) << 2 * PHASE_FIELD | min(expected, most) << PHASE_FIELD | min(arrived, most)


@native
def note_phase(context: int, site: int, kind: int, lane: int, entry: int, other: int) -> None:
    """Notes what is wrong with a phase of an mbarrier, and which site has initialised that."""
    m = pointer(entry, int64)
    note(context, site, kind, lane, m[M_KEY] - 1, other)
    f = pointer(site + (FINDINGS + kind * FINDING_SLOTS) * 8, int64)
    if f[FINDING_COUNT] == 1:
        f[FINDING_ADDRESS] |= m[M_INIT] << INIT_AT


# -- finding them ---------------------------------------------------------------------------------------------------


@native
def entry_of(context: int, offset: int) -> int:
    """The address of an mbarrier's entry, or of a free one for it; 0 where the table is full."""
    c = pointer(context, int64)
    base = c[TRANSACTIONS] + X_MBARRIERS * 8
    for step in range(MBARRIERS):
        entry = base + ((offset >> 3) + step & MBARRIERS - 1) * c[MBARRIER_ENTRY]
        key = pointer(entry, int64)[M_KEY]
        if key in (0, offset + 1):
            return entry
    return int64(0)


@native
def _fits(context: int, site: int, offset: int, lane: int) -> bool:
    """Whether an mbarrier may lie there."""
    if offset & (MBARRIER_BYTES - 1):
        note(context, site, MISALIGNED, lane, offset, int64(MBARRIER_BYTES))
        return False
    if offset < 0 or offset + MBARRIER_BYTES > pointer(context, int64)[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, offset, int64(MBARRIER_BYTES))
        return False
    return True


@native
def usable(context: int, site: int, offset: int, lane: int) -> int:
    """The entry of an initialised mbarrier; 0, and a finding, where there is none. That its initialisation may not have
    happened yet is a race."""
    if not _fits(context, site, offset, lane):
        return int64(0)
    entry = entry_of(context, offset)
    if entry == 0 or pointer(entry, int64)[M_KEY] == 0 or pointer(entry, int64)[M_VALID] == 0:
        note(context, site, NO_MBARRIER, lane, offset, int64(0))
        return int64(0)
    c = pointer(context, int64)
    write = pointer(c[SHADOW_WRITES], int64)[offset >> c[SHADOW_SHIFT]]
    known = write >> ACCESSOR_BITS >= c[BLOCK_CLOCK] and write & LANE_FIELD != IN_FLIGHT
    if known and _unordered(context, write, identity(context), lane, sync_clock(context)):
        note(context, site, RACE, lane, offset, other_access(write))
    return entry


@native
def mbarrier_init(context: int, site: int, addresses: int, counts: int, mask: int) -> None:
    """Makes an mbarrier in its first phase, for so many arrivals a phase."""
    a, n = pointer(addresses, int64), pointer(counts, int64)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        offset = shared_offset(a[lane])
        if not _fits(context, site, offset, lane):
            continue
        shadow(context, site, offset, int64(MBARRIER_BYTES), int64(lane), STORE, sync_clock(context))
        if n[lane] < 1 or n[lane] > MOST_ARRIVALS:
            note(context, site, OVERRUN, lane, offset, of_phase(int64(0), int64(0), n[lane]))
        entry = entry_of(context, offset)
        if entry == 0:
            pointer(context, int64)[NO_ROOM] = MANY_MBARRIERS
        else:
            m = pointer(entry, int64)
            if m[M_KEY] and m[M_VALID] and (m[M_PENDING] < m[M_EXPECTED] or m[M_BYTES]):
                note(context, site, IN_USE, lane, offset, of_phase(m[M_PHASE], int64(0), int64(0)))
            for slot in range(pointer(context, int64)[MBARRIER_ENTRY] // 8):
                m[slot] = 0
            m[M_KEY] = offset + 1
            m[M_VALID] = 1
            m[M_EXPECTED] = m[M_PENDING] = n[lane]
            m[M_INIT] = (site - pointer(context, int64)[SITES]) // (SITE_SLOTS * 8) + 1
        step(context)


@native
def mbarrier_inval(context: int, site: int, addresses: int, mask: int) -> None:
    """The place of an mbarrier is free for other use."""
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            offset = shared_offset(a[lane])
            entry = usable(context, site, offset, int64(lane))
            if entry:
                pointer(entry, int64)[M_VALID] = 0
                shadow(context, site, offset, int64(MBARRIER_BYTES), int64(lane), STORE, sync_clock(context))


@native
def step(context: int) -> None:
    """Something has happened that a warp may have waited for."""
    pointer(pointer(context, int64)[TRANSACTIONS], int64)[X_STEPS] += 1


# -- arriving -------------------------------------------------------------------------------------------------------


@native
def _publish(context: int, entry: int) -> None:
    """What the running warp has done and knows, those will know that wait for the phase."""
    c, m = pointer(context, int64), pointer(entry, int64)
    c[CLOCK] += 1
    join(context, entry + M_NOW * 8, knowledge(context, c[WARP]))
    m[M_NOW + identity(context)] = c[CLOCK]
    m[M_PATH] = max(m[M_PATH], path(context))


@native
def _note_excess(context: int, entry: int) -> None:
    """Notes copies of a phase that is about to complete without them: more bytes are under way than it expects."""
    c, m = pointer(context, int64), pointer(entry, int64)
    first, nbytes = int64(-1), int64(0)
    for number in range(pointer(c[TRANSACTIONS], int64)[X_COPIES]):
        u = place(context, int64(number))
        if u[U_MBARRIER] == m[M_KEY] - 1 and u[U_KIND] != ARRIVAL:
            nbytes += u[U_BYTES]
            if first < 0:
                first = int64(number)
    if first < 0:
        return
    u, running = place(context, first), c[WARP]
    c[WARP] = u[U_OWNER] >> WARP_SHIFT & RANK_WARPS - 1
    other = of_phase(m[M_PHASE], m[M_BYTES], m[M_ARRIVED] + nbytes)
    note(context, u[U_SITE], OTHER_BYTES, u[U_OWNER] & LANE_FIELD, m[M_KEY] - 1, other)
    c[WARP] = running


@native
def _come(context: int, entry: int) -> None:
    """A warp of the block that the mbarrier belongs to arrives."""
    c = pointer(context, int64)
    if c[HERE] == c[RANK]:
        pointer(entry, int64)[M_COMERS] |= int64(1) << c[WARP]


@native
def _meets(context: int, entry: int) -> bool:
    """Whether the whole block meets at a phase that completes: all its warps have arrived, and all but the running one
    wait for it already."""
    c, m = pointer(context, int64), pointer(entry, int64)
    alive = int64(0)
    for warp in range(c[WARPS]):
        lives = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_LIVE] != 0
        alive |= int64(lives) << warp
    return alive & ~(m[M_COMERS] & (m[M_WAITERS] | int64(1) << c[WARP])) == 0


@native
def settle(context: int, entry: int) -> None:
    """Completes the phase of an mbarrier if nothing is missing."""
    m = pointer(entry, int64)
    if m[M_PENDING] > 0 or m[M_BYTES] != m[M_ARRIVED]:
        return
    _note_excess(context, entry)
    if _meets(context, entry):
        settle_interval(context)
    m[M_COMERS] = m[M_WAITERS] = 0
    m[M_SKIPPED] |= m[M_SEEN] < m[M_PHASE]
    m[M_PHASE] += 1
    m[M_PENDING] = m[M_EXPECTED]
    m[M_BYTES] = m[M_ARRIVED] = 0
    m[M_PATH_THEN] = m[M_PATH]
    count = pointer(context, int64)[KNOWN_COUNT]
    for other in range(count):
        m[M_NOW + count + other] = m[M_NOW + other]
    step(context)


@native
def async_warp(context: int, entry: int) -> int:
    """The warp as which copies write that an mbarrier waits for."""
    c = pointer(context, int64)
    base = c[TRANSACTIONS] + X_MBARRIERS * 8
    number = (entry - base) // c[MBARRIER_ENTRY] % ASYNC_WARPS
    return (c[HERE] << RANK_SHIFT) + ASYNC_WARP + number


@native
def observe_phase(context: int, entry: int) -> None:
    """Somebody looks at a phase: if only copies are missing, they arrive, in the order in which they were issued."""
    c, m = pointer(context, int64), pointer(entry, int64)
    phase = m[M_PHASE]
    while m[M_PHASE] == phase and m[M_PENDING] == m[M_DEFERRED]:
        writer = async_warp(context, entry)
        if not deliver(context, entry, writer):
            return
        c[CLOCK] += 1
        m[M_NOW + writer] = c[CLOCK]
        settle(context, entry)


@native
def _arrive(context: int, site: int, offset: int, entry: int, count: int, lane: int, how: int) -> int:
    """`count` arrivals; the phase's token."""
    m = pointer(entry, int64)
    if m[M_PENDING] == 0:  # only copies are missing
        observe(context, entry)
    token = m[M_PHASE] << TOKEN_COUNT | m[M_PENDING]
    most = m[M_PENDING] - 1 if how & INCOMPLETE else m[M_PENDING]
    if count == 1 and m[M_PENDING] == 0 and m[M_BYTES] > m[M_ARRIVED]:
        note(context, site, REFILLED, lane, offset, of_phase(m[M_PHASE], int64(0), int64(0)))
        count = int64(0)
    elif count < 1 or count > most:
        note_phase(context, site, OVERRUN, lane, entry, of_phase(m[M_PHASE], m[M_EXPECTED], count))
        count = max(min(count, most), int64(0))
    if not how & RELAXED:
        _publish(context, entry)
    _come(context, entry)
    m[M_PENDING] -= count
    if how & DROPS:
        m[M_EXPECTED] -= count
    step(context)
    settle(context, entry)
    return token


@native
def mbarrier_arrive(
    context: int, site: int, addresses: int, counts: int, sizes: int, tokens: int, mask: int, how: int
) -> None:
    """Lanes arrive, one after the other; with EXPECTS each first adds to the bytes of the phase. A token a lane."""
    a, n, z, t = (
        pointer(addresses, int64),
        pointer(counts, int64),
        pointer(sizes, int64),
        pointer(tokens, int64),
    )
    for lane in range(LANES):
        count, size = n[lane], z[lane]
        t[lane] = 0
        if (mask >> lane) & 1:
            offset = enter(context, site, shared_offset(a[lane]), int64(lane))
            entry = usable(context, site, offset, int64(lane)) if offset != NOWHERE else int64(0)
            if entry:
                if how & EXPECTS:
                    pointer(entry, int64)[M_BYTES] += size
                t[lane] = _arrive(context, site, offset, entry, count, int64(lane), how)
            come_back(context)


@native
def mbarrier_expect(context: int, site: int, addresses: int, sizes: int, mask: int, completes: int) -> None:
    """Adds to the bytes that a phase expects, or to those that have arrived."""
    a, z = pointer(addresses, int64), pointer(sizes, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            offset = enter(context, site, shared_offset(a[lane]), int64(lane))
            entry = usable(context, site, offset, int64(lane)) if offset != NOWHERE else int64(0)
            if entry:
                m = pointer(entry, int64)
                if completes:
                    m[M_ARRIVED] += z[lane]
                    settle(context, entry)
                else:
                    m[M_BYTES] += z[lane]
                step(context)
            come_back(context)


@native
def async_arrive(context: int, site: int, addresses: int, mask: int, increments: int) -> None:
    """Lanes arrive as soon as their copies by cp.async have; with `increments` 1, as one that nobody expected."""
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            offset = shared_offset(a[lane])
            entry = usable(context, site, offset, int64(lane))
            if entry:
                m = pointer(entry, int64)
                if increments == 0 and m[M_PENDING] <= m[M_DEFERRED]:
                    observe(context, entry)
                if increments == 0 and m[M_PENDING] <= m[M_DEFERRED]:
                    other = of_phase(m[M_PHASE], m[M_EXPECTED], int64(1))
                    note_phase(context, site, OVERRUN, int64(lane), entry, other)
                else:
                    _come(context, entry)
                    defer_arrival(context, site, int64(lane), entry, increments)
                    step(context)
