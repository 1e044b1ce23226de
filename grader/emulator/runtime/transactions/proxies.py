"""The generic proxy, by which threads access memory, and the async proxy, by which bulk copies and wgmma do (PTX ISA
8.1.1, 9.7.15.2)."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.clusters.peers import transactions_of
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ANY_WARP,
    ASYNC_WARP,
    BLOCK_CLOCK,
    CLOCK,
    IN_FLIGHT,
    LANE_FIELD,
    RANK_SHIFT,
    RANK_WARPS,
    TRANSACTIONS,
    WAITER_SLOTS,
    WARP,
    WARP_SHIFT,
    X_WARPS,
    Y_PROXY_FENCE,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity


@native
def proxy_fence(context: int) -> None:
    """What the running warp has stored, or knows to be stored, is there for copies that are issued behind this."""
    c = pointer(context, int64)
    if c[TRANSACTIONS]:
        c[CLOCK] += 1
        pointer(c[TRANSACTIONS] + (X_WARPS + c[WARP] * WAITER_SLOTS) * 8, int64)[Y_PROXY_FENCE] = c[CLOCK]


@native
def _fence_of(context: int, who: int) -> int:
    """CLOCK at the last fence of a warp of the cluster, by its `identity`."""
    fences = transactions_of(context, who >> RANK_SHIFT) + X_WARPS * 8
    return pointer(fences + (who & RANK_WARPS - 1) * WAITER_SLOTS * 8, int64)[Y_PROXY_FENCE]


@native
def lacks_fence(context: int, write: int) -> bool:
    """Whether what a thread of this block's time has written, by its record, has no fence behind it: by the warp that
    wrote it, or by the running one."""
    c = pointer(context, int64)
    who = (write >> WARP_SHIFT) & ANY_WARP
    by_copy = who & RANK_WARPS - 1 >= ASYNC_WARP or write & LANE_FIELD == IN_FLIGHT
    if by_copy or write >> ACCESSOR_BITS < c[BLOCK_CLOCK]:
        return False
    if c[TRANSACTIONS] == 0:  # no such fence in the kernel
        return True
    return max(_fence_of(context, who), _fence_of(context, identity(context))) <= write >> ACCESSOR_BITS
