"""The queue of what is under way in a block: bulk copies, and arrivals at mbarriers that wait for copies."""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    BULK_COPIES,
    CLUSTER_SIZE,
    COPY_SLOTS,
    LANES,
    MANY_COPIES,
    NO_ROOM,
    NO_SITE,
    OTHER_READ,
    READ_BY_PEER,
    SITE_SHIFT,
    SITE_SLOTS,
    SITES,
    TO_GLOBAL,
    TRANSACTIONS,
    U_BYTES,
    U_KIND,
    U_MBARRIER,
    U_OWNER,
    U_SHARED,
    U_SITE,
    UNFINISHED,
    WARP_SHIFT,
    X_COPIES,
    X_QUEUE,
    X_SOURCES,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity


@native
def entry_at(context: int, number: int) -> int:
    """The address of an entry, by its place in the queue."""
    return pointer(context, int64)[TRANSACTIONS] + (X_QUEUE + number * COPY_SLOTS) * 8


@native
def place(context: int, number: int) -> Any:
    """The entry of what is under way, by its place in the queue."""
    return pointer(entry_at(context, number), int64)


@native
def append(context: int, site: int, kind: int, lane: int, mbarrier: int) -> int:
    """A further entry: its place in the queue; -1 where there is no room, and the launch
    is refused. `mbarrier` is a shared offset, or -1."""
    c = pointer(context, int64)
    x = pointer(c[TRANSACTIONS], int64)
    number = x[X_COPIES]
    if number == BULK_COPIES:
        c[NO_ROOM] = MANY_COPIES
        return int64(-1)
    x[X_COPIES] += 1
    u = place(context, number)
    u[U_KIND] = kind
    u[U_SITE] = site
    u[U_OWNER] = identity(context) << WARP_SHIFT | lane
    u[U_MBARRIER] = mbarrier
    return number


@native
def remove(context: int, number: int) -> None:
    """Takes an entry out; the others keep their order."""
    x = pointer(pointer(context, int64)[TRANSACTIONS], int64)
    x[X_COPIES] -= 1
    for later in range(number, x[X_COPIES]):
        to, of = place(context, int64(later)), place(context, int64(later + 1))
        for slot in range(COPY_SLOTS):
            to[slot] = of[slot]


@native
def check_source(context: int, site: int, offset: int, width: int, lane: int) -> None:
    """Notes a write to shared memory that a copy under way has yet to read."""
    c = pointer(context, int64)
    for number in range(pointer(c[TRANSACTIONS], int64)[X_COPIES]):
        u = place(context, int64(number))
        reads = u[U_KIND] in (TO_GLOBAL, READ_BY_PEER)
        if reads and u[U_SHARED] < offset + width and offset < u[U_SHARED] + u[U_BYTES]:
            which = min((u[U_SITE] - c[SITES]) // (SITE_SLOTS * 8), int64(NO_SITE))
            record = (which << SITE_SHIFT | u[U_OWNER]) & ((1 << ACCESSOR_BITS) - 1)
            note(context, site, UNFINISHED, lane, offset, record | OTHER_READ)
            return


@native
def check_sources(context: int, site: int, addresses: int, mask: int, width: int) -> None:
    """The same for the lanes of a store."""
    c = pointer(context, int64)
    if pointer(c[TRANSACTIONS], int64)[X_SOURCES] == 0 and c[CLUSTER_SIZE] == 1:
        return
    a = pointer(addresses, int64)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            check_source(context, site, a[lane], width, int64(lane))
