"""Loads, stores and atomics on the shared memory of a cluster."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.addresses import OFFSET
from grader.emulator.runtime.clusters.peers import NOWHERE, come_back, enter
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    LANES,
    LOAD,
    MISALIGNED,
    OUT_OF_BOUNDS,
    REQUESTS,
    SEVERAL,
    SHARED_BYTES,
    SHARED_HOST,
    STORE,
    STRONG_LOAD,
    SYNC_TABLE,
    TRANSACTIONS,
)
from grader.emulator.runtime.native import pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import share, sync_clock
from grader.emulator.runtime.sharedmem import plainly, shadow
from grader.emulator.runtime.transactions.queue import check_source


@native
def _access(context: int, site: int, address: int, width: int, kind: int, lane: int, who: int) -> int:
    """The host address of one lane's access, 0 where it is not allowed; `who` is the lane, or SEVERAL."""
    c = pointer(context, int64)
    if address & (width - 1):
        note(context, site, MISALIGNED, lane, address, width)
        return int64(0)
    if address < 0 or (address & OFFSET) + width > c[SHARED_BYTES]:
        note(context, site, OUT_OF_BOUNDS, lane, address, width)
        return int64(0)
    offset = enter(context, site, address, lane)
    if offset == NOWHERE:
        return int64(0)
    shadow(context, site, offset, width, who, kind, sync_clock(context))
    if c[TRANSACTIONS] and kind not in (LOAD, STRONG_LOAD):
        check_source(context, site, offset, width, lane)
    host = c[SHARED_HOST] + offset
    come_back(context)
    return host


@native
def _finish(context: int, site: int, mask: int, kind: int) -> None:
    s = pointer(site, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    if pointer(context, int64)[SYNC_TABLE] and kind not in (LOAD, STORE):
        share(context, kind)


@native
def access_cluster(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> int:
    """One warp instruction, as `access_shared`; some addresses name the rank of a block."""
    a = pointer(addresses, int64)
    kind = plainly(context, kind)
    allowed = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            a[lane] = _access(context, site, a[lane], width, kind, int64(lane), int64(lane))
            if a[lane]:
                allowed |= int64(1) << lane
    _finish(context, site, mask, kind)
    return allowed


@native
def access_cluster_uniform(context: int, site: int, address: int, mask: int, width: int, kind: int) -> int:
    """The same for a load in which all lanes have one address. Returns the host address, 0 where not allowed."""
    kind = plainly(context, kind)
    lane = trailing_zeros(mask)
    host = _access(
        context, site, address, width, kind, lane, lane if mask & (mask - 1) == 0 else int64(SEVERAL)
    )
    _finish(context, site, mask, kind)
    return host
