"""How copies between the blocks of a cluster arrive: of shared memory to a peer's, and of registers (st.async).

What such a copy reads at home is in the queue there as well, so that a write before it has arrived shows.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.clusters.peers import transactions_of
from grader.emulator.runtime.layout import (  # fmt: skip
    LANE_FIELD,
    READ_BY_PEER,
    SHARED_HOST,
    STORED,
    TRANSACTIONS,
    U_BYTES,
    U_GLOBAL,
    U_GROUP,
    U_KIND,
    U_OPERATION,
    U_PLACE,
    U_SHARED,
    U_TENSOR,
    U_TYPE,
    UPDATED,
    X_COPIES,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.transactions.queue import place, remove

reduce = outlined("reduce")


@native
def _has_been_read(context: int, rank: int, number: int) -> None:
    """Takes out, of the queue of the block where a copy comes from, what it reads there."""
    c = pointer(context, int64)
    mine = c[TRANSACTIONS]
    c[TRANSACTIONS] = transactions_of(context, rank)
    for at in range(pointer(c[TRANSACTIONS], int64)[X_COPIES]):
        u = place(context, int64(at))
        if u[U_KIND] == READ_BY_PEER and u[U_PLACE] == number:
            remove(context, int64(at))
            break
    c[TRANSACTIONS] = mine


@native
def from_peer(context: int, entry: int, record: int) -> int:
    """Moves the data; returns the record for what has been written, which for a reduction is that of an atomic."""
    u = pointer(entry, int64)
    target = pointer(context, int64)[SHARED_HOST] + u[U_SHARED]
    source = entry + U_TENSOR * 8 if u[U_KIND] == STORED else u[U_GLOBAL]
    if u[U_OPERATION] >= 0:
        reduce(target, source, u[U_BYTES], u[U_TYPE], u[U_OPERATION])
        record = record & ~LANE_FIELD | UPDATED
    else:
        to, of = pointer(target, uint8), pointer(source, uint8)
        for byte in range(u[U_BYTES]):
            to[byte] = of[byte]
    if u[U_KIND] != STORED:
        _has_been_read(context, u[U_GROUP], u[U_PLACE])
    return record
