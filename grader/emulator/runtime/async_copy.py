"""cp.async: copies from global to shared memory that complete when the warp waits for them.

A copy is checked and counted when it is issued, and queued. Its data arrives at the wait that covers its group, and
not before, so that a missing wait shows: until then the destination's shadow says that it is in flight.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ASYNC,
    ASYNC_QUEUE,
    ASYNC_WARP_BYTES,
    BLOCK_CLOCK,
    COPIES,
    E_COPIES,
    E_DESTINATIONS,
    E_GROUP,
    E_LANES,
    E_SITE,
    E_SIZES,
    E_SOURCES,
    E_WIDTH,
    ENTRY_BYTES,
    IN_FLIGHT,
    IN_SHARED,
    LANE_FIELD,
    LANES,
    LOAD,
    MISALIGNED,
    NEVER,
    OUT_OF_BOUNDS,
    P_GROUPS,
    P_SECTORS,
    PATTERNS_SHARED,
    Q_DONE,
    Q_ENTRIES,
    Q_FIRST,
    Q_GROUPS,
    Q_NEXT,
    Q_UNDER_WAY,
    SECTORS,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_HOST,
    STORE,
    STORE_PHASE,
    TRACE,
    TURNS,
    WARP,
    WARPS,
)
from grader.emulator.runtime.native import lane_buffer, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.patterns import describe_shared, fill_inactive, find_pattern
from grader.emulator.runtime.races.accessors import accessor, accessor_as
from grader.emulator.runtime.races.ordering import sync_clock
from grader.emulator.runtime.races.paths import access_aside
from grader.emulator.runtime.sharedmem import shadow
from grader.emulator.runtime.spaces.shared_use import note_use
from grader.emulator.runtime.spaces.trace import trace


@native
def _queue(context: int) -> int:
    """The running warp's queue of copies."""
    c = pointer(context, int64)
    return c[ASYNC] + c[WARP] * ASYNC_WARP_BYTES


@native
def _entry(queue: int, number: int) -> int:
    return queue + Q_ENTRIES * 8 + number % ASYNC_QUEUE * ENTRY_BYTES


@native
def _destination_ok(context: int, site: int, offset: int, width: int, lane: int) -> bool:
    c = pointer(context, int64)
    if offset & (width - 1):
        note(context, site, MISALIGNED, lane, offset, width)
        return False
    if offset < 0 or offset + width > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, offset, width)
        return False
    return True


@native
def mark(context: int, offset: int, width: int, record: int) -> None:
    """Sets the write records of a destination."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    for index in range(offset >> c[SHADOW_SHIFT], (offset + width - 1 >> c[SHADOW_SHIFT]) + 1):
        writes[index] = record


@native
def _complete(context: int, queue: int, writer: int) -> None:
    """The data of a queue's first instruction arrives, as written by the running warp, or by `writer` where that is not
    0; bytes beyond the source size are zeros."""
    c = pointer(context, int64)
    c[COPIES] -= 1
    q = pointer(queue, int64)
    e = pointer(_entry(queue, q[Q_FIRST]), int64)
    q[Q_FIRST] += 1
    q[Q_DONE] += e[E_COPIES]
    q[Q_UNDER_WAY] -= e[E_COPIES]
    width = e[E_WIDTH]
    for lane in range(LANES):
        if not (e[E_LANES] >> lane) & 1:
            continue
        offset = e[E_DESTINATIONS + lane]
        target = pointer(c[SHARED_HOST] + offset, uint8)
        source = pointer(e[E_SOURCES + lane], uint8)
        for byte in range(width):
            target[byte] = source[byte] if byte < e[E_SIZES + lane] else 0
        if writer:
            mark(context, offset, width, accessor_as(context, e[E_SITE], writer))
        else:
            mark(context, offset, width, accessor(context, e[E_SITE]) | lane)


@native
def in_flight(context: int, site: int) -> int:
    """The record of a write that has not arrived."""
    me = accessor(context, site) & ((1 << ACCESSOR_BITS) - 1)
    return (NEVER + pointer(context, int64)[BLOCK_CLOCK] << ACCESSOR_BITS) | me | IN_FLIGHT


@native
def _is_under_way(context: int, destination: int, source: int, size: int, width: int) -> bool:
    """Whether a warp of the block has an equal copy under way: a second one changes nothing, whichever comes first."""
    c = pointer(context, int64)
    for warp in range(c[WARPS]):
        queue = c[ASYNC] + warp * ASYNC_WARP_BYTES
        q = pointer(queue, int64)
        for number in range(q[Q_FIRST], q[Q_NEXT]):
            e = pointer(_entry(queue, int64(number)), int64)
            for lane in range(LANES):
                if (e[E_LANES] >> lane) & 1 and e[E_DESTINATIONS + lane] == destination:
                    same = e[E_SOURCES + lane] == source or (size == 0 and e[E_SIZES + lane] == 0)
                    if same and e[E_SIZES + lane] == size and e[E_WIDTH] == width:
                        return True
    return False


@native
def _issue(context: int, site: int, destination: int, source: int, size: int, width: int, lane: int) -> None:
    """Marks the destination of one lane's copy as under way."""
    c = pointer(context, int64)
    before = pointer(c[SHADOW_WRITES], int64)[destination >> c[SHADOW_SHIFT]]
    again = before >> ACCESSOR_BITS == NEVER + c[BLOCK_CLOCK] and before & LANE_FIELD == IN_FLIGHT
    if not (again and _is_under_way(context, destination, source, size, width)):
        shadow(context, site, destination, width, lane, STORE, sync_clock(context))
    mark(context, destination, width, in_flight(context, site))


@native
def _split_sectors(destinations: int, sources: int, mask: int) -> int:
    """Sectors that a request of 16 bytes a lane asks for twice: those whose halves, from two neighbouring lanes, go
    to different lines of 128 bytes of shared memory. (Seen on an H200; copies of 4 bytes, by way of L1, have none.)
    """
    d = pointer(destinations, int64)
    s = pointer(sources, int64)
    split = int64(0)
    for lane in range(1, LANES):
        if (
            (mask >> lane - 1) & 3 == 3
            and s[lane] >> 5 == s[lane - 1] >> 5
            and d[lane] >> 7 != d[lane - 1] >> 7
        ):
            split += 1
    return split


@native
def _bank_conflicts(context: int, destinations: int, mask: int, width: int) -> int:
    """Wavefronts beyond the fewest in which a request writes shared memory: as many as a store's of that width."""
    first = fill_inactive(destinations, mask)
    phase = (first & 3) + STORE_PHASE
    table = pointer(context, int64)[PATTERNS_SHARED]
    pattern, known = find_pattern(table, destinations, first, mask, width, phase)
    if not known:
        describe_shared(pattern, destinations, first, mask, width, phase, lane_buffer())
    p = pointer(pattern, int64)
    return p[P_SECTORS] - p[P_GROUPS]


@native
def async_copy(
    context: int, site: int, destinations: int, sources: int, sizes: int, mask: int, width: int
) -> None:
    """Issues one cp.async of `width` bytes a lane; `sizes` are the bytes each lane reads, 0 to width."""
    d = pointer(destinations, int64)
    z = pointer(sizes, int64)
    pointer(site, int64)[TURNS] += _bank_conflicts(context, destinations, mask, width)
    reading = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and z[lane] > 0:
            reading |= int64(1) << lane
    allowed = mask & ~reading
    if reading:
        if width == 16:
            pointer(site, int64)[SECTORS] += _split_sectors(destinations, sources, reading)
        allowed |= access_aside(context, site, sources, reading, width, LOAD)
    queue = _queue(context)
    q = pointer(queue, int64)
    if q[Q_NEXT] - q[Q_FIRST] == ASYNC_QUEUE:
        _complete(context, queue, int64(0))
    entry = _entry(queue, q[Q_NEXT])
    q[Q_NEXT] += 1
    pointer(context, int64)[COPIES] += 1
    note_use(context, int64(STORE))
    e = pointer(entry, int64)
    s = pointer(sources, int64)
    e[E_GROUP] = q[Q_GROUPS]
    e[E_WIDTH] = width
    e[E_SITE] = site
    e[E_COPIES] = int64(reading != 0)
    q[Q_UNDER_WAY] += e[E_COPIES]
    e[E_LANES] = 0
    lanes = int64(0)
    for lane in range(LANES):
        if not (allowed >> lane) & 1 or not _destination_ok(context, site, d[lane], width, lane):
            continue
        lanes |= int64(1) << lane
        e[E_DESTINATIONS + lane] = d[lane]
        e[E_SOURCES + lane] = s[lane]
        e[E_SIZES + lane] = z[lane]
        _issue(context, site, d[lane], s[lane], z[lane], width, int64(lane))
    e[E_LANES] = lanes
    if pointer(context, int64)[TRACE]:
        trace(context, int64(IN_SHARED), destinations, lanes, width, STORE)


@native
def async_commit(context: int) -> None:
    """Closes the group of the copies issued since the last commit."""
    pointer(_queue(context), int64)[Q_GROUPS] += 1


@native
def async_wait(context: int, pending: int) -> None:
    """Completes all groups but the last `pending`; a negative number completes everything, committed or not."""
    queue = _queue(context)
    q = pointer(queue, int64)
    while q[Q_FIRST] < q[Q_NEXT]:
        entry = _entry(queue, q[Q_FIRST])
        if pending >= 0 and pointer(entry, int64)[E_GROUP] >= q[Q_GROUPS] - pending:
            return
        _complete(context, queue, int64(0))


@native
def complete_until(context: int, warp: int, number: int, writer: int) -> None:
    """Completes what a warp has issued before its copy `number`, as written by `writer`."""
    queue = pointer(context, int64)[ASYNC] + warp * ASYNC_WARP_BYTES
    q = pointer(queue, int64)
    while q[Q_FIRST] < min(number, q[Q_NEXT]):
        _complete(context, queue, writer)
