"""Local memory, kernel parameters, and generic addresses that may be any of the spaces."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    FULL,
    LANES,
    LOCAL_BYTES,
    LOCAL_HOST,
    LOCAL_WINDOW,
    MISALIGNED,
    OUT_OF_BOUNDS,
    PARAM_BYTES,
    PARAM_HOST,
    PARAM_WINDOW,
    REQUESTS,
    SECTORS,
    SHARED_WINDOW,
    SITE_SLOTS,
    WARP,
    WINDOW_BYTES,
)
from grader.emulator.runtime.native import outlined, pointer, population, trailing_zeros
from grader.emulator.runtime.options import native

access_global, access_shared = outlined("access_global"), outlined("access_shared")


@native
def _within(context: int, site: int, offset: int, width: int, nbytes: int, lane: int) -> bool:
    """Whether an access lies inside its space of `nbytes` bytes; a finding where it does not."""
    if offset & (width - 1):
        note(context, site, MISALIGNED, lane, offset, width)
        return False
    if offset < 0 or offset + width > nbytes:
        note(context, site, OUT_OF_BOUNDS, lane, offset, width)
        return False
    return True


@native
def _local_sectors(addresses: int, mask: int, width: int) -> int:
    """Local memory interleaves the lanes word by word: one word of eight neighbouring lanes is a sector."""
    a = pointer(addresses, int64)
    words = max(width >> 2, 1)
    sectors = int64(0)
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        repeated = False
        for other in range(lane & ~7, lane):
            if (mask >> other) & 1 and a[other] >> 2 == a[lane] >> 2:
                repeated = True
        sectors += 0 if repeated else words
    return sectors


@native
def access_local(context: int, site: int, addresses: int, mask: int, width: int) -> int:
    """One warp instruction on local memory; addresses are offsets in each thread's own space."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    s[SECTORS] += _local_sectors(addresses, mask, width)
    allowed = int64(0)
    nbytes = c[LOCAL_BYTES]
    for lane in range(LANES):
        if (mask >> lane) & 1 and _within(context, site, a[lane], width, nbytes, lane):
            allowed |= int64(1) << lane
        a[lane] += c[LOCAL_HOST] + (c[WARP] * LANES + lane) * nbytes
    return allowed


@native
def access_param(context: int, site: int, addresses: int, mask: int, width: int) -> int:
    """Kernel parameters, read through a computed address."""
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    allowed = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and _within(context, site, a[lane], width, c[PARAM_BYTES], lane):
            allowed |= int64(1) << lane
        a[lane] += c[PARAM_HOST]
    return allowed


@native
def _lanes_in(addresses: int, mask: int, window: int) -> int:
    a = pointer(addresses, int64)
    found = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 and a[lane] >= window and a[lane] < window + WINDOW_BYTES:
            found |= int64(1) << lane
    return found


@native
def _shift(addresses: int, mask: int, distance: int) -> None:
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            a[lane] += distance


@native
def access_generic(
    context: int, site: int, addresses: int, mask: int, width: int, kind: int, scratch: int
) -> int:
    """Sorts the lanes by space; `scratch` has room for 32 bytes and a second set of 32 addresses, then what
    `access_shared` needs.

    What lies in shared and in local memory is counted and noted at the two sites behind this one (kernel.py).
    """
    a = pointer(addresses, int64)
    shared_site = site + SITE_SLOTS * 8
    local_site = shared_site + SITE_SLOTS * 8
    in_shared = _lanes_in(addresses, mask, SHARED_WINDOW)
    in_local = _lanes_in(addresses, mask, LOCAL_WINDOW)
    in_param = _lanes_in(addresses, mask, PARAM_WINDOW)
    in_global = mask & ~(in_shared | in_local | in_param)
    if in_global == mask:
        return access_global(context, site, addresses, mask, width, kind)
    if in_shared == mask:
        _shift(addresses, int64(FULL), -SHARED_WINDOW)
        return access_shared(context, shared_site, addresses, mask, width, kind, scratch)
    allowed = int64(0)
    part = scratch + 32
    b = pointer(part, int64)
    for space in range(4):
        members = (in_global, in_shared, in_local, in_param)[space]
        if not members:
            continue
        first = a[trailing_zeros(members)]
        for lane in range(LANES):
            b[lane] = a[lane] if (members >> lane) & 1 else first
        if space == 0:
            allowed |= access_global(context, site, part, members, width, kind)
        elif space == 1:
            _shift(part, int64(FULL), -SHARED_WINDOW)
            allowed |= access_shared(context, shared_site, part, members, width, kind, scratch)
        elif space == 2:
            _shift(part, int64(FULL), -LOCAL_WINDOW)
            allowed |= access_local(context, local_site, part, members, width)
        else:
            _shift(part, int64(FULL), -PARAM_WINDOW)
            allowed |= access_param(context, local_site, part, members, width)
        for lane in range(LANES):
            if (members >> lane) & 1:
                a[lane] = b[lane]
    return allowed
