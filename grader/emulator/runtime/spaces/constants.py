"""Constant memory: the variables of a module that were declared so, and nothing else."""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESS_LANES,
    CONSTANT_COUNT,
    CONSTANTS,
    GROUPS,
    HOST_DELTA,
    IN_CONSTANT,
    LANES,
    LOAD,
    MISALIGNED,
    OUT_OF_BOUNDS,
    REQUESTS,
    SECTORS,
    TRACE,
)
from grader.emulator.runtime.native import pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.spaces.trace import trace, trace_uniform


@native
def _allowed(context: int, site: int, address: int, width: int, lane: int) -> bool:
    """Whether an access is aligned and lies in one of the constants; a finding where it does not."""
    c = pointer(context, int64)
    if address & (width - 1):
        note(context, site, MISALIGNED, lane, address, width)
        return False
    bounds = pointer(c[CONSTANTS], int64)
    for i in range(c[CONSTANT_COUNT]):
        if bounds[2 * i] <= address and address + width <= bounds[2 * i + 1]:
            return True
    note(context, site, OUT_OF_BOUNDS, lane, address, width)
    return False


@native
def access_constant(context: int, site: int, addresses: int, mask: int, width: int) -> int:
    """One warp instruction; the constant cache serves the distinct addresses one by one."""
    c = pointer(context, int64)
    s = pointer(site, int64)
    a = pointer(addresses, int64)
    s[REQUESTS] += 1
    s[ACCESS_LANES] += population(mask)
    allowed = int64(0)
    seen = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        repeated = touched = False
        for other in range(lane):
            touched |= bool((seen >> other) & 1) and a[other] >> 5 == a[lane] >> 5
            if (seen >> other) & 1 and a[other] == a[lane]:
                repeated = True
                if (allowed >> other) & 1:
                    allowed |= int64(1) << lane
                break
        if repeated:
            continue
        seen |= int64(1) << lane
        s[SECTORS] += 1
        s[GROUPS] += not touched
        if _allowed(context, site, a[lane], width, lane):
            allowed |= int64(1) << lane
    if c[TRACE]:
        trace(context, int64(IN_CONSTANT), addresses, allowed, width, int64(LOAD))
    for lane in range(LANES):
        a[lane] += c[HOST_DELTA]
    return allowed


@native
def access_constant_uniform(context: int, site: int, address: int, mask: int, width: int) -> int:
    """All lanes read one address: its host address, 0 where it may not be read."""
    s = pointer(site, int64)
    s[REQUESTS] += 1
    s[SECTORS] += 1
    s[GROUPS] += 1
    s[ACCESS_LANES] += population(mask)
    if not _allowed(context, site, address, width, trailing_zeros(mask)):
        return int64(0)
    if pointer(context, int64)[TRACE]:
        trace_uniform(context, int64(IN_CONSTANT), address, mask, width, int64(LOAD))
    return address + pointer(context, int64)[HOST_DELTA]
