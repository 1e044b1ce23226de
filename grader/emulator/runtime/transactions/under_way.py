"""What is under way to the phases of a block's mbarriers, in the order in which it was issued, and how it arrives."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.async_copy import complete_until, mark
from grader.emulator.runtime.layout import (  # fmt: skip
    ARRIVAL,
    ASYNC,
    ASYNC_WARP_BYTES,
    COPIES,
    LANES,
    M_ARRIVED,
    M_DEFERRED,
    M_KEY,
    M_PENDING,
    Q_NEXT,
    RANK_WARPS,
    TO_SHARED,
    TRANSACTIONS,
    U_BYTES,
    U_KIND,
    U_MAP,
    U_MBARRIER,
    U_OPERATION,
    U_OWNER,
    U_REFUSED,
    U_SHARED,
    U_SITE,
    WARP,
    WARP_SHIFT,
    X_COPIES,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import accessor_as
from grader.emulator.runtime.transactions.boxes import map_of, row_bytes, rows
from grader.emulator.runtime.transactions.from_peers import from_peer
from grader.emulator.runtime.transactions.queue import append, entry_at, place, remove

sweep = outlined("sweep")


@native
def _stands_for(context: int, mbarrier: int, operation: int) -> bool:
    """Whether what is under way last is the running warp's arrival at an mbarrier, behind the same cp.async."""
    c = pointer(context, int64)
    last = pointer(c[TRANSACTIONS], int64)[X_COPIES] - 1
    if last < 0:
        return False
    u = place(context, last)
    mine = (u[U_OWNER] >> WARP_SHIFT) & (LANES - 1) == c[WARP]
    return u[U_KIND] == ARRIVAL and u[U_MBARRIER] == mbarrier and u[U_OPERATION] == operation and mine


@native
def defer_arrival(context: int, site: int, lane: int, entry: int, increments: int) -> bool:
    """A lane arrives at an mbarrier once the copies by cp.async are there that its warp has issued so far.

    Of lanes that wait for the same copies, and whose arrivals nobody expected, one stands for all.
    """
    c, m = pointer(context, int64), pointer(entry, int64)
    operation = pointer(c[ASYNC] + c[WARP] * ASYNC_WARP_BYTES, int64)[Q_NEXT]
    if increments and _stands_for(context, m[M_KEY] - 1, operation):
        return True
    number = append(context, site, int64(ARRIVAL), lane, m[M_KEY] - 1)
    if number < 0:
        return False
    u = place(context, number)
    u[U_OPERATION] = operation
    u[U_BYTES] = 0
    m[M_PENDING] += increments
    m[M_DEFERRED] += 1
    return True


@native
def _arriving(context: int, number: int) -> int:
    """Bytes that a copy brings: those of a box's rows, without what may lie between them."""
    u = place(context, number)
    if u[U_KIND] != TO_SHARED or u[U_MAP] == 0:
        return u[U_BYTES]
    tensor_map = map_of(entry_at(context, number))
    return rows(tensor_map) * row_bytes(tensor_map)


@native
def deliver(context: int, entry: int, writer: int) -> bool:
    """What is under way to an mbarrier's phase for the longest time arrives, written by `writer`; False where nothing
    is."""
    c, m = pointer(context, int64), pointer(entry, int64)
    for number in range(pointer(c[TRANSACTIONS], int64)[X_COPIES]):
        u = place(context, int64(number))
        if u[U_MBARRIER] != m[M_KEY] - 1:
            continue
        if u[U_KIND] == ARRIVAL:
            warp = u[U_OWNER] >> WARP_SHIFT & RANK_WARPS - 1
            complete_until(context, warp, u[U_OPERATION], writer)
            m[M_DEFERRED] -= 1
            m[M_PENDING] -= 1
        else:
            record = accessor_as(context, u[U_SITE], writer)
            if u[U_KIND] != TO_SHARED:
                record = from_peer(context, entry_at(context, int64(number)), record)
            elif u[U_REFUSED] == 0:
                sweep(context, entry_at(context, int64(number)), int64(1))
            mark(context, u[U_SHARED], u[U_BYTES], record)
            m[M_ARRIVED] += _arriving(context, int64(number))
            c[COPIES] -= 1
        remove(context, int64(number))
        return True
    return False
