"""Addresses in the shared memory of a cluster: (rank + 1) << RANK_AT | offset, or an offset in the own."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import CLUSTER_SIZE, LANES, RANK, RANK_AT
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native

OFFSET = (1 << RANK_AT) - 1


@native
def names_rank(context: int, address: int) -> bool:
    """Whether an address says whose shared memory it is in; without clusters it may be the own block's alone."""
    number = address >> RANK_AT
    return number == 1 or (number > 0 and pointer(context, int64)[CLUSTER_SIZE] > 1)


@native
def some_name_rank(context: int, addresses: int, mask: int) -> bool:
    """Whether some lane's address does."""
    a = pointer(addresses, int64)
    found = False
    for lane in range(LANES):
        found |= (mask >> lane) & 1 != 0 and names_rank(context, a[lane])
    return found


@native
def rank_in(context: int, address: int) -> int:
    """The rank of the block in whose shared memory an address lies."""
    return pointer(context, int64)[RANK] if address >> RANK_AT <= 0 else (address >> RANK_AT) - 1
