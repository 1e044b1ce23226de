"""Bulk and tensor copies (PTX ISA 9.7.9.25.4 and .5): issued by a thread, done by the async proxy.

A copy is checked and counted when it is issued. Its data moves as late as it may: to shared memory when a wait looks at
its mbarrier's phase, from there when its group is waited for, or the block ends.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.async_copy import in_flight, mark
from grader.emulator.runtime.clusters.addresses import OFFSET
from grader.emulator.runtime.clusters.peers import NOWHERE, come_back, note_for
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ARENA_BYTES,
    ARRIVAL,
    BEFORE_TENSOR,
    BULK_COPIES,
    BULK_LOADS,
    CLUSTER_SIZE,
    COPIES,
    ENDED,
    GLOBAL_BASE,
    HERE,
    HOST_DELTA,
    IN_SHARED,
    LANE_FIELD,
    LANES,
    LOAD,
    LOCAL_MAP,
    LOCAL_WINDOW,
    MAP_ADDRESS,
    MAP_BYTES,
    MAP_ELEMENT,
    MAP_MAGIC,
    MAP_RANK,
    MAP_SWIZZLE,
    MISALIGNED,
    MOST_BLOCKS,
    OF_TENSOR,
    OUT_OF_BOUNDS,
    PARAM_BYTES,
    PARAM_HOST,
    PARAM_WINDOW,
    PEER_SECTORS,
    PROGRESS,
    RANK,
    RANK_AT,
    SECTORS,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    STORE,
    TO_GLOBAL,
    TO_SHARED,
    TRACE,
    TRANSACTIONS,
    U_BYTES,
    U_GLOBAL,
    U_GROUP,
    U_KIND,
    U_MAP,
    U_MBARRIER,
    U_OPERATION,
    U_OWNER,
    U_PLACE,
    U_REFUSED,
    U_SHARED,
    U_SITE,
    U_TENSOR,
    U_TYPE,
    UNFENCED,
    UNREAD,
    WARP,
    WARP_SHIFT,
    WINDOW_BYTES,
    X_COPIES,
    X_GROUPS,
    X_LANES,
    X_SOURCES,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity, other_access
from grader.emulator.runtime.races.ordering import sync_clock
from grader.emulator.runtime.spaces.shared_use import note_interval
from grader.emulator.runtime.spaces.trace import trace
from grader.emulator.runtime.transactions.arrivals import begin_arrival
from grader.emulator.runtime.transactions.boxes import map_of, pitch, reduction_of, rows
from grader.emulator.runtime.transactions.mbarriers import shared_offset, step
from grader.emulator.runtime.transactions.proxies import lacks_fence
from grader.emulator.runtime.transactions.queue import append, check_source, entry_at, place, remove

sweep, shadow = outlined("sweep"), outlined("shadow")
TENSOR_ALIGN, BULK_ALIGN = 128, 16
"""What places in shared memory are multiples of, and of bulk copies sizes and global addresses too."""


@native
def _fits(context: int, site: int, offset: int, nbytes: int, align: int, lane: int) -> bool:
    """Whether a copy may touch this piece of shared memory."""
    if offset & (align - 1):
        note(context, site, MISALIGNED, lane, offset, align)
        return False
    if offset < 0 or offset + nbytes > pointer(context, int64)[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, offset, nbytes)
        return False
    return True


@native
def _trace(context: int, offset: int, nbytes: int, kind: int) -> None:
    """Notes the shared memory that a copy touches, where a block is traced."""
    c = pointer(context, int64)
    if c[TRACE] == 0:
        return
    lanes = pointer(c[TRANSACTIONS] + X_LANES * 8, int64)
    for start in range(0, nbytes, 512):
        count = min((nbytes - start + 15) // 16, LANES)
        for lane in range(count):
            lanes[lane] = offset + start + 16 * lane
        trace(
            context,
            int64(IN_SHARED),
            c[TRANSACTIONS] + X_LANES * 8,
            (int64(1) << count) - 1,
            int64(16),
            kind,
        )


@native
def _tensor_map(context: int, address: int) -> int:
    """The host address of the tensor map at a generic one; 0 where there is none."""
    c = pointer(context, int64)
    if address & 63:
        return int64(0)
    host = int64(0)
    if PARAM_WINDOW <= address <= PARAM_WINDOW + c[PARAM_BYTES] - MAP_BYTES:
        host = address - PARAM_WINDOW + c[PARAM_HOST]
    elif GLOBAL_BASE <= address <= GLOBAL_BASE + c[ARENA_BYTES] - MAP_BYTES:
        host = address + c[HOST_DELTA]
    if host == 0 or pointer(host, int64)[0] != MAP_MAGIC:
        return int64(0)
    b = pointer(host, uint8)
    swizzle, element = b[MAP_SWIZZLE], b[MAP_ELEMENT]
    known = 1 <= b[MAP_RANK] <= 5 and element in (1, 2, 4, 8) and swizzle in (0, 1, 3, 7)
    return host if known else int64(0)


@native
def _begins_aligned(context: int, site: int, tensor_map: int, first: int, lane: int) -> bool:
    """Whether a box whose innermost coordinate is `first` begins at a multiple of 16 bytes, as TMA demands: a GPU ends
    the kernel with an illegal instruction otherwise."""
    at = first * int64(pointer(tensor_map + MAP_ELEMENT, uint8)[0])
    if at & (BULK_ALIGN - 1):
        address = pointer(tensor_map + MAP_ADDRESS, int64)[0]
        note(context, site, MISALIGNED, lane, address + at, int64(BULK_ALIGN))
        return False
    return True


@native
def _begins_inside(context: int, site: int, tensor_map: int, coordinates: int, lane: int) -> bool:
    """Whether no coordinate is negative: a box that is stored may end outside of its tensor, but not begin in front of
    it (CUDA C++ Programming Guide, "Negative indices and out of bounds"); an H200 ends the kernel with an illegal
    instruction."""
    for dimension in range(int64(pointer(tensor_map + MAP_RANK, uint8)[0])):
        at = pointer(coordinates, int64)[dimension * LANES + lane]
        if at < 0:
            address = pointer(tensor_map + MAP_ADDRESS, int64)[0]
            note(context, site, BEFORE_TENSOR, lane, address, dimension << 32 | at & 0xFFFFFFFF)
            return False
    return True


@native
def _describe(
    context: int, site: int, kind: int, lane: int, shared: int, address: int, nbytes: int, coordinates: int
) -> int:
    """A new entry for a copy, its number; -1 where there is none. `address` is global, or with `nbytes` 0 that of a
    tensor map, of which the box at `coordinates` is copied."""
    tensor_map = int64(0)
    if nbytes == 0:
        tensor_map = _tensor_map(context, address)
        if tensor_map == 0:
            is_local = LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES
            note(context, site, LOCAL_MAP if is_local else OUT_OF_BOUNDS, lane, address, int64(MAP_BYTES))
            return int64(-1)
        if not _begins_aligned(context, site, tensor_map, pointer(coordinates, int64)[lane], lane):
            return int64(-1)
        if kind == TO_GLOBAL and not _begins_inside(context, site, tensor_map, coordinates, lane):
            return int64(-1)
        nbytes = rows(tensor_map) * pitch(tensor_map)
    elif address & (BULK_ALIGN - 1) or nbytes & (BULK_ALIGN - 1):
        note(context, site, MISALIGNED, lane, address, int64(BULK_ALIGN))
        return int64(-1)
    if not _fits(context, site, shared, nbytes, int64(TENSOR_ALIGN if tensor_map else BULK_ALIGN), lane):
        return int64(-1)
    number = append(context, site, kind, lane, int64(-1))
    if number < 0:
        return number
    u = place(context, number)
    u[U_SHARED], u[U_GLOBAL], u[U_BYTES], u[U_MAP] = shared, address, nbytes, int64(tensor_map != 0)
    for slot in range(MAP_BYTES // 8 if tensor_map else 0):
        u[U_TENSOR + slot] = pointer(tensor_map, int64)[slot]
    u[U_OPERATION] = u[U_GROUP] = int64(-1)
    u[U_REFUSED] = u[U_TYPE] = int64(0)
    return number


@native
def _place_box(context: int, number: int, coordinates: int, lane: int) -> None:
    """The coordinates of a box: 5 vectors of int64."""
    u = place(context, number)
    for dimension in range(5):
        u[U_PLACE + dimension] = pointer(coordinates, int64)[dimension * LANES + lane]


@native
def _load(
    context: int, site: int, target: int, source: int, size: int, mbarrier: int, coordinates: int, lane: int,
    refused: int,
) -> int:  # fmt: skip
    """One lane's copy to one block; it is checked and counted where `refused` is -1, else that says whether some of it
    is out of bounds. Returns which."""
    c = pointer(context, int64)
    place_of_mbarrier = begin_arrival(context, site, target, mbarrier, int64(0), int64(1), lane)
    if place_of_mbarrier == NOWHERE:
        return refused
    shared = target & OFFSET
    number = _describe(context, site, int64(TO_SHARED), lane, shared, source, size, coordinates)
    if number >= 0:
        _place_box(context, number, coordinates, lane)
        u = place(context, number)
        u[U_MBARRIER] = place_of_mbarrier
        if refused < 0:
            sweep(context, entry_at(context, number), int64(0))
            refused = u[U_REFUSED]
        u[U_REFUSED] = refused
        note_interval(context, False)
        shadow(context, site, shared, u[U_BYTES], lane, STORE, sync_clock(context))
        check_source(context, site, shared, u[U_BYTES], lane)
        mark(context, shared, u[U_BYTES], in_flight(context, site))
        if c[HERE] == c[RANK]:
            _trace(context, shared, u[U_BYTES], int64(STORE))
            c[BULK_LOADS] += 1
        c[COPIES] += 1
        step(context)
    come_back(context)
    return refused


@native
def bulk_load(
    context: int, site: int, targets: int, sources: int, sizes: int, mbarriers: int, coordinates: int, ranks: int,
    mask: int,
) -> None:  # fmt: skip
    """Each lane issues a copy to shared memory, whose bytes arrive at an mbarrier; sizes 0: of boxes. `ranks` are the
    lanes' masks of blocks of the cluster (uint16 in int64) that all get the data, at the same place, or 0."""
    d, s = pointer(targets, int64), pointer(sources, int64)
    z, m = pointer(sizes, int64), pointer(mbarriers, int64)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        target, mbarrier = shared_offset(d[lane]), shared_offset(m[lane])
        if ranks == 0:
            _load(context, site, target, s[lane], z[lane], mbarrier, coordinates, int64(lane), int64(-1))
            continue
        refused = int64(-1)
        counted = pointer(site, int64)
        before, others = counted[SECTORS], int64(-1)
        for rank in range(MOST_BLOCKS):
            if (pointer(ranks, int64)[lane] >> rank) & 1:
                others += 1
                there = int64(rank + 1) << RANK_AT
                refused = _load(
                    context, site, there | target & OFFSET, s[lane], z[lane], there | mbarrier & OFFSET, coordinates,
                    int64(lane), refused,
                )  # fmt: skip
        counted[PEER_SECTORS] += others * (counted[SECTORS] - before)


@native
def bulk_prefetch(context: int, site: int, sources: int, sizes: int, mask: int) -> None:
    """Counts the sectors of the copies to L2 that lanes issue; sizes 0: of boxes."""
    for lane in range(LANES):
        if (mask >> lane) & 1:
            nbytes = pointer(sizes, int64)[lane]
            if nbytes == 0:
                tensor_map = _tensor_map(context, pointer(sources, int64)[lane])
                nbytes = rows(tensor_map) * pitch(tensor_map) if tensor_map else int64(0)
            pointer(site, int64)[SECTORS] += (nbytes + 31) >> 5


@native
def check_fence(context: int, site: int, shared: int, nbytes: int, lane: int) -> None:
    """Notes where a copy reads what a thread has written, with no fence between the proxies."""
    c = pointer(context, int64)
    writes = pointer(c[SHADOW_WRITES], int64)
    for index in range(shared >> c[SHADOW_SHIFT], (shared + nbytes - 1 >> c[SHADOW_SHIFT]) + 1):
        if lacks_fence(context, writes[index]):
            note(context, site, UNFENCED, lane, index << c[SHADOW_SHIFT], other_access(writes[index]))
            return


@native
def bulk_store(
    context: int, site: int, targets: int, sources: int, sizes: int, coordinates: int, mask: int, how: int
) -> None:
    """Each lane issues a copy from shared memory, of its next group; `how` is -1, or operation << 8 | type."""
    c = pointer(context, int64)
    x = pointer(c[TRANSACTIONS], int64)
    d, s, z = pointer(targets, int64), pointer(sources, int64), pointer(sizes, int64)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        if x[X_COPIES] == BULK_COPIES:
            _finish_oldest(context)
        shared = shared_offset(s[lane])
        number = _describe(
            context, site, int64(TO_GLOBAL), int64(lane), shared, d[lane], z[lane], coordinates
        )
        if number < 0:
            continue
        _place_box(context, number, coordinates, int64(lane))
        u = place(context, number)
        u[U_GROUP] = x[X_GROUPS + c[WARP] * LANES + lane]
        if how >= OF_TENSOR:
            u[U_OPERATION], u[U_TYPE] = reduction_of(map_of(entry_at(context, number)), how - OF_TENSOR)
        elif how >= 0:
            u[U_OPERATION], u[U_TYPE] = how >> 8, how & 255
        note_interval(context, True)
        shadow(context, site, shared, u[U_BYTES], int64(lane), LOAD, sync_clock(context))
        check_fence(context, site, shared, u[U_BYTES], int64(lane))
        sweep(context, entry_at(context, number), int64(0))
        _trace(context, shared, u[U_BYTES], int64(LOAD))
        x[X_SOURCES] += 1


# -- groups ---------------------------------------------------------------------------------------------------------


@native
def _finish(context: int, number: int) -> None:
    """A copy from shared memory is done."""
    c = pointer(context, int64)
    u = place(context, number)
    if u[U_REFUSED] == 0:
        sweep(context, entry_at(context, number), int64(1))
    c[PROGRESS] += 1
    pointer(c[TRANSACTIONS], int64)[X_SOURCES] -= 1
    remove(context, number)


@native
def _finish_oldest(context: int) -> None:
    for number in range(pointer(pointer(context, int64)[TRANSACTIONS], int64)[X_COPIES]):
        if place(context, int64(number))[U_KIND] == TO_GLOBAL:
            _finish(context, int64(number))
            return


@native
def bulk_commit(context: int, mask: int) -> None:
    """Each lane closes the group of the copies from shared memory that it has issued since the last one."""
    c = pointer(context, int64)
    for lane in range(LANES):
        pointer(c[TRANSACTIONS], int64)[X_GROUPS + c[WARP] * LANES + lane] += (mask >> lane) & 1


@native
def bulk_wait(context: int, pending: int, mask: int) -> None:
    """Each lane waits for its groups but the last `pending`."""
    c = pointer(context, int64)
    x = pointer(c[TRANSACTIONS], int64)
    number = int64(0)
    while number < x[X_COPIES]:
        u = place(context, number)
        lane = u[U_OWNER] & LANE_FIELD
        mine = u[U_OWNER] >> WARP_SHIFT == identity(context)
        due = mine and u[U_GROUP] < x[X_GROUPS + c[WARP] * LANES + lane] - pending
        if u[U_KIND] == TO_GLOBAL and (mask >> lane) & 1 and due:
            _finish(context, number)
        else:
            number += 1


@native
def end_copies(context: int) -> None:
    """At the end of a block: copies from its shared memory, and in a cluster all to or from there, that are under way
    are noted; the former are done."""
    c = pointer(context, int64)
    x = pointer(c[TRANSACTIONS], int64)
    for number in range(x[X_COPIES] if c[CLUSTER_SIZE] > 1 or x[X_SOURCES] else 0):
        u = place(context, int64(number))
        who, lane = u[U_OWNER] >> WARP_SHIFT, u[U_OWNER] & LANE_FIELD
        if u[U_KIND] == TO_GLOBAL:
            note_for(context, u[U_SITE], UNREAD, who, lane, u[U_SHARED])
        elif u[U_KIND] != ARRIVAL and c[CLUSTER_SIZE] > 1:
            note_for(context, u[U_SITE], ENDED, who, lane, c[RANK] + 1 << RANK_AT | u[U_SHARED])
    while x[X_SOURCES]:
        _finish_oldest(context)
