"""Who accessed a granule of shared memory, as its shadow keeps it."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ANY_WARP,
    CLOCK,
    NO_SITE,
    RANK,
    RANK_SHIFT,
    SEVERAL,
    SITE_SHIFT,
    SITE_SLOTS,
    SITES,
    WARP,
    WARP_SHIFT,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def identity(context: int) -> int:
    """The number of the running warp among those of its cluster; in its block, where there is none."""
    c = pointer(context, int64)
    return (c[RANK] << RANK_SHIFT) + c[WARP]


@native
def accessor(context: int, site: int) -> int:
    """The record of an access by the running warp now, but for the lane."""
    c = pointer(context, int64)
    number = min((site - c[SITES]) // (SITE_SLOTS * 8), int64(NO_SITE))
    return (c[CLOCK] << ACCESSOR_BITS) | (number << SITE_SHIFT) | (identity(context) << WARP_SHIFT)


@native
def accessor_as(context: int, site: int, writer: int) -> int:
    """The record of an access now by what counts as another warp, whole."""
    return (accessor(context, site) & ~(ANY_WARP << WARP_SHIFT)) | (writer << WARP_SHIFT) | SEVERAL


@native
def other_access(record: int) -> int:
    """What a finding keeps of a record."""
    return record & ((1 << ACCESSOR_BITS) - 1)
