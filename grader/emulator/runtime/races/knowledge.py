"""What each warp knows of the others of its block, or of its cluster: CLOCK before which it knows all that one did."""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    CLOCK,
    CLUSTER_X,
    CLUSTER_Y,
    CLUSTER_Z,
    GRID_X,
    GRID_Y,
    KNOWN_AT,
    KNOWN_COUNT,
    LENIENT,
    RANK,
    RANK_SHIFT,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
    WITH_WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def known(context: int, warp: int) -> Any:
    """What a warp of the block knows of each other one of its cluster, by their `identity`."""
    c = pointer(context, int64)
    return pointer(c[WARP_STATES] + warp * c[WARP_BYTES] + c[KNOWN_AT], int64)


@native
def known_before(context: int, warp: int) -> int:
    """CLOCK before which the running warp knows all that another of its block did, a barrier aside; or another of its
    cluster, by its `identity`."""
    c = pointer(context, int64)
    if c[LENIENT] == WITH_WARPS:
        return c[CLOCK] + 1
    return known(context, c[WARP])[warp]


@native
def knowledge(context: int, warp: int) -> int:
    """The address of what a warp of the block knows."""
    c = pointer(context, int64)
    return c[WARP_STATES] + warp * c[WARP_BYTES] + c[KNOWN_AT]


@native
def join(context: int, target: int, source: int) -> None:
    """Adds to what one vector knows (an address) what another does."""
    to, of = pointer(target, int64), pointer(source, int64)
    for other in range(pointer(context, int64)[KNOWN_COUNT]):
        to[other] = max(to[other], of[other])


@native
def rank_of(context: int, block: int) -> int:
    """The rank of a block, by its linear number, in the running block's cluster; -1 where it is in another one."""
    c = pointer(context, int64)
    x = block % c[GRID_X] - c[BLOCK_X] // c[CLUSTER_X] * c[CLUSTER_X]
    y = block // c[GRID_X] % c[GRID_Y] - c[BLOCK_Y] // c[CLUSTER_Y] * c[CLUSTER_Y]
    z = block // (c[GRID_X] * c[GRID_Y]) - c[BLOCK_Z] // c[CLUSTER_Z] * c[CLUSTER_Z]
    inside = 0 <= x < c[CLUSTER_X] and 0 <= y < c[CLUSTER_Y] and 0 <= z < c[CLUSTER_Z]
    return x + c[CLUSTER_X] * (y + c[CLUSTER_Y] * z) if inside else int64(-1)


@native
def tell_all(context: int) -> None:
    """What one warp of the block knows of others of the cluster, all know, and what each has done."""
    c = pointer(context, int64)
    first = knowledge(context, int64(0))
    for warp in range(c[WARPS]):
        join(context, first, knowledge(context, int64(warp)))
        pointer(first, int64)[(c[RANK] << RANK_SHIFT) + warp] = c[CLOCK]
    for warp in range(1, c[WARPS]):
        join(context, knowledge(context, int64(warp)), first)
