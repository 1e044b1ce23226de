"""Values that nobody has defined, left in shared or local memory by stores, until they are loaded or overwritten.

Of shared memory two arrays behind the shadow's last writes say it, one for each origin: a granule holds such a value
where its entry there is the record of its last write. So whatever else writes defines it. Of local memory, which
nothing but plain stores writes, a byte says it for each, with a bit for each origin, behind the memory itself. There
it holds from the beginning of a block, where a kernel reads local memory: nothing is written yet.
"""

from __future__ import annotations

from numba import int64, uint8

from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    BLOCK_CLOCK,
    LANES,
    LOCAL_BYTES,
    LOCAL_HOST,
    LOCAL_MARKS,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_HOST,
    UNDEFINED_LEFT,
    WARPS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def _inside(address: int, nbytes: int, first: int, size: int) -> bool:
    return first <= address and address + nbytes <= first + size


@native
def _shared_marks(context: int, origin: int) -> int:
    c = pointer(context, int64)
    return c[SHADOW_WRITES] + (origin + 1) * ((c[SHARED_BYTES] >> c[SHADOW_SHIFT]) + 1) * 8


@native
def _local_marks(context: int) -> int:
    c = pointer(context, int64)
    return c[LOCAL_HOST] + c[WARPS] * LANES * c[LOCAL_BYTES]


@native
def begin_undefined(context: int) -> None:
    """Before a block reads local memory, or the first time that it leaves such a value: the marks of local memory."""
    c = pointer(context, int64)
    marks = pointer(_local_marks(context), int64)
    for index in range(c[WARPS] * LANES * c[LOCAL_BYTES] // 8):
        marks[index] = c[LOCAL_MARKS]
    c[UNDEFINED_LEFT] = 1


@native
def leave_undefined(
    context: int, addresses: int, at: int, stored: int, nbytes: int, undefined: int, origin: int
) -> int:
    """Behind a store of `nbytes`, `at` so many behind the host addresses, by the lanes `stored`: those that are
    `undefined` leave such a value, the others leave none. Returns the lanes where that shows at once."""
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    if not c[UNDEFINED_LEFT]:
        begin_undefined(context)
    shift, local_bytes = c[SHADOW_SHIFT], c[WARPS] * LANES * c[LOCAL_BYTES]
    writes, marks = pointer(c[SHADOW_WRITES], int64), pointer(_shared_marks(context, origin), int64)
    elsewhere = int64(0)
    for lane in range(LANES):
        if not (stored >> lane) & 1:
            continue
        bit, address = (undefined >> lane) & 1, a[lane] + at
        if _inside(address, nbytes, c[SHARED_HOST], c[SHARED_BYTES]):
            offset = address - c[SHARED_HOST]
            for index in range(offset >> shift, (offset + nbytes - 1 >> shift) + 1):
                marks[index] = writes[index] * bit
        elif _inside(address, nbytes, c[LOCAL_HOST], local_bytes):
            local = pointer(address + local_bytes, uint8)
            for index in range(nbytes):
                local[index] = (int64(local[index]) & ~(1 << origin)) | (bit << origin)
        else:
            elsewhere |= bit << lane
    return elsewhere


@native
def undefined_at(context: int, addresses: int, at: int, loading: int, nbytes: int, origin: int) -> int:
    """The lanes of those `loading` that find such a value in `nbytes`, `at` so many behind the host addresses; in local
    memory, in all of the bytes: a structure is copied with the gaps between its members."""
    c = pointer(context, int64)
    a = pointer(addresses, int64)
    shift, local_bytes = c[SHADOW_SHIFT], c[WARPS] * LANES * c[LOCAL_BYTES]
    begun = c[BLOCK_CLOCK] << ACCESSOR_BITS
    writes, marks = pointer(c[SHADOW_WRITES], int64), pointer(_shared_marks(context, origin), int64)
    found = int64(0)
    for lane in range(LANES):
        if not (loading >> lane) & 1:
            continue
        address = a[lane] + at
        if _inside(address, nbytes, c[SHARED_HOST], c[SHARED_BYTES]):
            offset = address - c[SHARED_HOST]
            for index in range(offset >> shift, (offset + nbytes - 1 >> shift) + 1):
                found |= int64(marks[index] == writes[index] and writes[index] >= begun) << lane
        elif _inside(address, nbytes, c[LOCAL_HOST], local_bytes):
            local = pointer(address + local_bytes, uint8)
            marked = int64(1)
            for index in range(nbytes):
                marked &= int64(local[index]) >> origin
            found |= marked << lane
    return found
