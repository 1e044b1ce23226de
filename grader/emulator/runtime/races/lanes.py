"""Happens-before within a warp, where some lanes wait for some others: a __syncwarp with a mask.

What every lane knows of every other one is a time, as between warps (ordering.py).
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint32

from grader.emulator.runtime.layout import (
    CLOCK,
    FULL,
    LANE_CLOCKS,
    LANES,
    THREADS,
    W_SYNC_CLOCK,
    WARP,
    WARP_BYTES,
    WARP_STATES,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def known_of_lanes(context: int, lane: int, other: int) -> int:
    """CLOCK before which a lane of the running warp knows what another did, by what `meet_lanes` has joined.

    Which lanes SEVERAL are is not kept: the best counts that any of them knows, or that is known of any.
    """
    c = pointer(context, int64)
    if c[LANE_CLOCKS] == 0:
        return int64(0)
    most = int64(0)
    for one in range(LANES) if lane >= LANES else range(lane, lane + 1):
        clocks = _clocks(context, int64(one))
        for two in range(LANES) if other >= LANES else range(other, other + 1):
            most = max(most, clocks[two])
    return most


@native
def meet_lanes(context: int, masks: int, active: int) -> None:
    """A __syncwarp by the lanes `active`, each of which gives a mask (uint32): those that a mask names know then what
    all of them did, and what these knew. Others of them may be waiting at a __syncwarp in a branch of their own."""
    c = pointer(context, int64)
    named = pointer(masks, uint32)
    c[CLOCK] += 1
    whole, left = _lanes_of_warp(context), active
    for lane in range(LANES):
        if not (left >> lane) & 1:
            continue
        if int64(named[lane]) & whole == whole:
            pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)[W_SYNC_CLOCK] = c[CLOCK]
            return
        group = int64(named[lane]) | int64(1) << lane
        _join(context, group)
        left &= ~group


@native
def _join(context: int, group: int) -> None:
    """Lets the lanes of a group know what each of them knows, and what they have done."""
    now = pointer(context, int64)[CLOCK]
    for other in range(LANES):
        latest = now if (group >> other) & 1 else int64(0)
        for lane in range(LANES):
            if (group >> lane) & 1:
                latest = max(latest, _clocks(context, int64(lane))[other])
        for lane in range(LANES):
            if (group >> lane) & 1:
                _clocks(context, int64(lane))[other] = latest


@native
def _clocks(context: int, lane: int) -> Any:
    """What a lane of the running warp knows, by lane."""
    c = pointer(context, int64)
    return pointer(c[LANE_CLOCKS] + (c[WARP] * LANES + lane) * LANES * 8, int64)


@native
def _lanes_of_warp(context: int) -> int:
    """The lanes that the running warp began with."""
    c = pointer(context, int64)
    threads = c[THREADS] - c[WARP] * LANES
    return int64(FULL) if threads >= LANES else (int64(1) << threads) - 1
