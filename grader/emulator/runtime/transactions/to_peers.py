"""Copies between the blocks of a cluster (PTX ISA 9.7.9.25.4, cp.async.bulk; 9.7.9.12, st.async; 9.7.13.8, red.async).

Their bytes arrive at an mbarrier of the block that they go to, as late as they may.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.async_copy import in_flight, mark
from grader.emulator.runtime.clusters.accesses import count_peers
from grader.emulator.runtime.clusters.addresses import OFFSET
from grader.emulator.runtime.clusters.peers import NOWHERE, come_back
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ATOMIC,
    CLOCK,
    COPIES,
    LANES,
    LOAD,
    MISALIGNED,
    OUT_OF_BOUNDS,
    PEER_REQUESTS,
    PEER_SECTORS,
    RANK,
    READ_BY_PEER,
    SHARED_BYTES,
    SHARED_HOST,
    STORE,
    STORED,
    TO_PEER,
    U_BYTES,
    U_GLOBAL,
    U_GROUP,
    U_MBARRIER,
    U_OPERATION,
    U_PLACE,
    U_REFUSED,
    U_SHARED,
    U_TENSOR,
    U_TYPE,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import sync_clock
from grader.emulator.runtime.transactions.arrivals import begin_arrival
from grader.emulator.runtime.transactions.bulk import BULK_ALIGN, check_fence
from grader.emulator.runtime.transactions.mbarriers import shared_offset, step
from grader.emulator.runtime.transactions.queue import append, check_source, place

shadow = outlined("shadow")


@native
def _expected(context: int, number: int, mbarrier: int, shared: int, nbytes: int) -> None:
    """Fills in what all copies to a peer have."""
    u = place(context, number)
    u[U_MBARRIER], u[U_SHARED], u[U_BYTES] = mbarrier, shared, nbytes
    u[U_OPERATION] = u[U_GROUP] = int64(-1)
    u[U_REFUSED] = u[U_TYPE] = int64(0)
    pointer(context, int64)[COPIES] += 1
    step(context)


@native
def bulk_to_peer(
    context: int, site: int, targets: int, sources: int, sizes: int, mbarriers: int, mask: int, how: int
) -> None:
    """Each lane issues a copy of its block's shared memory to that of a block of the cluster; `how` is bulk_store's."""
    c = pointer(context, int64)
    d, s = pointer(targets, int64), pointer(sources, int64)
    z, m = pointer(sizes, int64), pointer(mbarriers, int64)
    counted = pointer(site, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            source, target = shared_offset(s[lane]), shared_offset(d[lane])
            if not _readable(context, site, source, z[lane], int64(lane)):
                continue
            host = c[SHARED_HOST] + source
            c[CLOCK] += 1
            number = c[CLOCK]
            at = begin_arrival(
                context, site, target, shared_offset(m[lane]), z[lane], int64(BULK_ALIGN), int64(lane)
            )
            if at == NOWHERE:
                continue
            entry = append(context, site, int64(TO_PEER), int64(lane), int64(-1))
            if entry >= 0:
                _expected(context, entry, at, target & OFFSET, z[lane])
                counted[PEER_REQUESTS] += 1
                counted[PEER_SECTORS] += (target & 31) + z[lane] + 31 >> 5
                u = place(context, entry)
                u[U_GLOBAL], u[U_GROUP], u[U_PLACE] = host, c[RANK], number
                kind = int64(STORE if how < 0 else ATOMIC)
                shadow(context, site, u[U_SHARED], z[lane], int64(lane), kind, sync_clock(context))
                check_source(context, site, u[U_SHARED], z[lane], int64(lane))
                if how < 0:
                    mark(context, u[U_SHARED], z[lane], in_flight(context, site))
                else:
                    u[U_OPERATION], u[U_TYPE] = how >> 8, how & 255
            come_back(context)
            home = (
                append(context, site, int64(READ_BY_PEER), int64(lane), int64(-1))
                if entry >= 0
                else int64(-1)
            )
            if home >= 0:
                u = place(context, home)
                u[U_SHARED], u[U_BYTES], u[U_PLACE] = source, z[lane], number


@native
def _readable(context: int, site: int, source: int, nbytes: int, lane: int) -> bool:
    """Checks what a copy reads of the own shared memory."""
    c = pointer(context, int64)
    if (source | nbytes) & (BULK_ALIGN - 1):
        note(context, site, MISALIGNED, lane, source, int64(BULK_ALIGN))
        return False
    if source < 0 or nbytes <= 0 or source + nbytes > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, source, nbytes)
        return False
    shadow(context, site, source, nbytes, lane, LOAD, sync_clock(context))
    check_fence(context, site, source, nbytes, lane)
    return True


@native
def store_to_peer(
    context: int, site: int, targets: int, values: int, mbarriers: int, mask: int, width: int, element: int,
    operation: int,
) -> None:  # fmt: skip
    """Each lane sends `width` bytes of registers, `element` bytes each, one value vector behind the other; `operation`
    is that of a reduction, or -1."""
    d, m = pointer(targets, int64), pointer(mbarriers, int64)
    count_peers(site, targets, mask, width, int64(STORE))
    for lane in range(LANES):
        if (mask >> lane) & 1:
            target = shared_offset(d[lane])
            at = begin_arrival(context, site, target, shared_offset(m[lane]), width, width, int64(lane))
            if at == NOWHERE:
                continue
            kind = int64(STORE if operation < 0 else ATOMIC)
            shadow(context, site, target & OFFSET, width, int64(lane), kind, sync_clock(context))
            entry = append(context, site, int64(STORED), int64(lane), int64(-1))
            if entry >= 0:
                _expected(context, entry, at, target & OFFSET, width)
                u = place(context, entry)
                u[U_OPERATION], u[U_TYPE] = operation, element
                _keep(context, entry, values, int64(lane), width, element)
                if operation < 0:
                    mark(context, u[U_SHARED], width, in_flight(context, site))
            come_back(context)


@native
def _keep(context: int, entry: int, values: int, lane: int, width: int, element: int) -> None:
    """Puts a lane's values into the entry of its store."""
    u = place(context, entry)
    for word in range(2):
        u[U_TENSOR + word] = int64(0)
    for byte in range(width):
        of = values + (byte // element * LANES + lane) * element + byte % element
        at, shift = U_TENSOR + byte // 8, byte % 8 * 8
        u[at] |= int64(pointer(of, uint8)[0]) << shift
