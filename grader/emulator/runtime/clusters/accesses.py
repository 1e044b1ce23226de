"""Loads, stores and atomics on the shared memory of a cluster."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.addresses import OFFSET, rank_in
from grader.emulator.runtime.clusters.peers import NOWHERE, come_back, enter
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.globalmem import atomic_sectors
from grader.emulator.runtime.layout import (  # fmt: skip
    ATOMIC,
    LANES,
    LOAD,
    MISALIGNED,
    OUT_OF_BOUNDS,
    PEER_EXCESS,
    PEER_REQUESTS,
    PEER_SECTORS,
    PEERS_ALONE,
    RANK,
    REDUCTION,
    SEVERAL,
    SHARED_BYTES,
    SHARED_HOST,
    STORE,
    STRONG_LOAD,
    SYNC_TABLE,
    TRANSACTIONS,
)
from grader.emulator.runtime.native import outlined, pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import share, sync_clock
from grader.emulator.runtime.sharedmem import plainly, shadow
from grader.emulator.runtime.spaces.shared_use import note_use
from grader.emulator.runtime.transactions.queue import check_source

access_shared, access_shared_uniform = outlined("access_shared"), outlined("access_shared_uniform")
OWN_AT = 32 + LANES * 8
"""Where the addresses of the lanes in the own block stand in `scratch`, behind what others keep there."""


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
def _peers(context: int, addresses: int, mask: int) -> int:
    """The lanes whose addresses lie in other blocks."""
    own = pointer(context, int64)[RANK]
    a = pointer(addresses, int64)
    found = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and rank_in(context, a[lane]) != own:
            found |= int64(1) << lane
    return found


@native
def _distinct_sectors(addresses: int, mask: int) -> int:
    a = pointer(addresses, int64)
    sectors = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            again = False
            for other in range(lane):
                again |= (mask >> other) & 1 != 0 and a[other] >> 5 == a[lane] >> 5
            sectors += 0 if again else 1
    return sectors


@native
def count_peers(site: int, addresses: int, mask: int, width: int, kind: int) -> None:
    """Counts a warp instruction's lanes in other blocks, `width` bytes each; as on an H200, atomics go round by
    round."""
    s = pointer(site, int64)
    atomic = kind in (ATOMIC, REDUCTION)
    sectors = atomic_sectors(addresses, mask, width) if atomic else _distinct_sectors(addresses, mask)
    s[PEER_REQUESTS] += 1
    s[PEER_SECTORS] += sectors
    s[PEER_EXCESS] += max(int64(0), sectors - (population(mask) * width + 31 >> 5))


@native
def _share(context: int, kind: int) -> None:
    if pointer(context, int64)[SYNC_TABLE] and kind not in (LOAD, STORE):
        share(context, kind)


@native
def _note_read(context: int, kind: int) -> None:
    """What the own block has under way meanwhile counts, wherever it reads."""
    if kind in (LOAD, STRONG_LOAD):
        note_use(context, kind)


@native
def _in_own(context: int, site: int, addresses: int, mask: int, width: int, kind: int, scratch: int) -> int:
    """The lanes in the own block, whose addresses may name its rank, as an access without a cluster."""
    a, b = pointer(addresses, int64), pointer(scratch + OWN_AT, int64)
    first = a[trailing_zeros(mask)] & OFFSET
    for lane in range(LANES):
        b[lane] = a[lane] & OFFSET if (mask >> lane) & 1 and a[lane] > 0 else first
    allowed = access_shared(context, site, scratch + OWN_AT, mask, width, kind, scratch)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            a[lane] = b[lane]
    return allowed


@native
def access_cluster(
    context: int, site: int, addresses: int, mask: int, width: int, kind: int, scratch: int
) -> int:
    """One warp instruction, as `access_shared`; some addresses name the rank of a block."""
    a = pointer(addresses, int64)
    s = pointer(site, int64)
    kind = plainly(context, kind)
    allowed = int64(0)
    peers = _peers(context, addresses, mask)
    if peers:
        s[PEERS_ALONE] += 1 if peers == mask else 0
        count_peers(site, addresses, peers, width, kind)
        _note_read(context, kind)
    if peers != mask:
        allowed = _in_own(context, site, addresses, mask & ~peers, width, kind, scratch)
    for lane in range(LANES):
        if (peers >> lane) & 1:
            a[lane] = _access(context, site, a[lane], width, kind, int64(lane), int64(lane))
            if a[lane]:
                allowed |= int64(1) << lane
    if peers:
        _share(context, kind)
    return allowed


@native
def access_cluster_uniform(context: int, site: int, address: int, mask: int, width: int, kind: int) -> int:
    """The same for a load in which all lanes have one address. Returns the host address, 0 where not allowed."""
    c, s = pointer(context, int64), pointer(site, int64)
    if rank_in(context, address) == c[RANK]:
        return access_shared_uniform(context, site, address & OFFSET, mask, width, kind)
    s[PEER_REQUESTS] += 1
    s[PEERS_ALONE] += 1
    s[PEER_SECTORS] += 1
    _note_read(context, kind)
    kind = plainly(context, kind)
    lane = trailing_zeros(mask)
    host = _access(
        context, site, address, width, kind, lane, lane if mask & (mask - 1) == 0 else int64(SEVERAL)
    )
    _share(context, kind)
    return host
