"""The trace of one block: every access of its warps to global, shared and constant memory, in order."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    BLOCK_LINEAR,
    LANES,
    T_ADDRESSES,
    T_BLOCK,
    T_COUNT,
    T_ENTRIES,
    T_KIND,
    T_MASK,
    T_ROOM,
    T_SPACE,
    T_WARP,
    T_WIDTH,
    TRACE,
    TRACE_ENTRY,
    WARP,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def _entry(context: int, space: int, mask: int, width: int, kind: int) -> int:
    """Begins an entry, and says where its addresses go; 0 where nothing is noted."""
    c = pointer(context, int64)
    t = pointer(c[TRACE], int64)
    if c[BLOCK_LINEAR] != t[T_BLOCK] or mask == 0:
        return int64(0)
    number = t[T_COUNT]
    t[T_COUNT] = number + 1
    if number >= t[T_ROOM]:
        return int64(0)
    where = c[TRACE] + (T_ENTRIES + number * TRACE_ENTRY) * 8
    e = pointer(where, int64)
    e[T_WARP] = c[WARP]
    e[T_SPACE] = space
    e[T_KIND] = kind
    e[T_WIDTH] = width
    e[T_MASK] = mask
    return where + T_ADDRESSES * 8


@native
def trace(context: int, space: int, addresses: int, mask: int, width: int, kind: int) -> None:
    """Notes an access of the lanes in the mask, if the running block is the traced one; addresses are the device's, in
    shared memory offsets."""
    where = _entry(context, space, mask, width, kind)
    if where:
        a, e = pointer(addresses, int64), pointer(where, int64)
        for lane in range(LANES):
            e[lane] = a[lane]


@native
def trace_uniform(context: int, space: int, address: int, mask: int, width: int, kind: int) -> None:
    """The same where all lanes have one address."""
    where = _entry(context, space, mask, width, kind)
    if where:
        e = pointer(where, int64)
        for lane in range(LANES):
            e[lane] = address
