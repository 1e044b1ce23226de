"""Waiting for a phase of an mbarrier (PTX ISA 9.7.13.15.15, .16).

A warp that waits by mbarrier.try_wait does not run until the phase is complete. Where no warp of the block gets on,
waits time out, as they may at any time; after some such rounds in which nothing happens, the block is deadlocked.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.clusters.barrier import cluster_passed, threads_apart
from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    APART,
    AT_CLUSTER,
    FEW_ARRIVALS,
    KNOWN_COUNT,
    LANES,
    M_ARRIVED,
    M_BYTES,
    M_EXPECTED,
    M_KEY,
    M_NOW,
    M_PATH_THEN,
    M_PENDING,
    M_PHASE,
    M_SEEN,
    M_VALID,
    M_WAITERS,
    OTHER_BYTES,
    RELAXED,
    RUNNING,
    SKIPPED,
    TOKEN_COUNT,
    TRANSACTIONS,
    W_GO,
    W_HELD,
    W_MASKS,
    W_STATUS,
    W_SYNC_CLOCK,
    WAITER_SLOTS,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
    WRONG_PARITY,
    X_STEPS,
    X_STEPS_THEN,
    X_TIMEOUTS,
    X_WARPS,
    Y_BLOCKS,
    Y_PLACES,
    Y_SITES,
    Y_WANTS,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.accessors import identity
from grader.emulator.runtime.races.knowledge import join, knowledge
from grader.emulator.runtime.races.paths import wait_for
from grader.emulator.runtime.transactions.mbarriers import (
    entry_of,
    note_phase,
    observe,
    of_phase,
    shared_offset,
    usable,
)
from grader.emulator.runtime.transactions.parity import has_jumped, has_waited, missed_one, note_repeated

PATIENCE = 16
"""How often waits time out in a row without anything having happened before the block is called deadlocked."""


@native
def _is_complete(entry: int, want: int) -> bool:
    """Whether a phase is complete, by its number, or as -1 - its parity."""
    phase = pointer(entry, int64)[M_PHASE]
    return phase & 1 != -1 - want if want < 0 else phase > want


@native
def _look(context: int, offset: int, want: int) -> bool:
    """Whether the phase of an mbarrier is complete, after whatever can arrive has; True where there is no mbarrier."""
    entry = entry_of(context, offset)
    if entry == 0 or pointer(entry, int64)[M_VALID] == 0 or pointer(entry, int64)[M_KEY] == 0:
        return True
    if not _is_complete(entry, want):
        observe(context, entry)
    complete = _is_complete(entry, want)
    if complete:
        pointer(entry, int64)[M_SEEN] = pointer(entry, int64)[M_PHASE]
    return complete


@native
def _waits(context: int, offset: int, want: int) -> bool:
    """The same for the running warp, which waits if it is not."""
    complete = _look(context, offset, want)
    if not complete:
        pointer(entry_of(context, offset), int64)[M_WAITERS] |= int64(1) << pointer(context, int64)[WARP]
    return not complete


@native
def _learn(context: int, entry: int) -> None:
    """The running warp knows what those did who arrived at the phase."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    done = entry + (M_NOW + c[KNOWN_COUNT]) * 8
    join(context, knowledge(context, c[WARP]), done)
    wait_for(context, pointer(entry, int64)[M_PATH_THEN])
    w[W_SYNC_CLOCK] = max(w[W_SYNC_CLOCK], pointer(done, int64)[identity(context)])


@native
def mbarrier_test(context: int, site: int, addresses: int, wants: int, mask: int, how: int) -> int:
    """The lanes whose phase is complete."""
    a, p = pointer(addresses, int64), pointer(wants, int64)
    complete = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            offset = shared_offset(a[lane])
            entry = usable(context, site, offset, int64(lane))
            if entry == 0 or not _waits(context, offset, p[lane]):
                complete |= int64(1) << lane
                if entry and not how & RELAXED:
                    _learn(context, entry)
                if entry:
                    has_waited(context, site, entry, int64(lane), p[lane])
    return complete


@native
def _waiter(context: int, warp: int) -> Any:
    """What the lanes of a warp wait for."""
    return pointer(pointer(context, int64)[TRANSACTIONS] + (X_WARPS + warp * WAITER_SLOTS) * 8, int64)


@native
def mbarrier_wait(
    context: int, warp: int, block: int, site: int, addresses: int, wants: int, mask: int, all_lanes: int
) -> int:
    """In front of a try_wait that lanes in `mask` of `all_lanes` execute: 1 if they go on, 0 if all wait there."""
    a, p = pointer(addresses, int64), pointer(wants, int64)
    w = pointer(warp, int64)
    if mask & ~w[W_GO] == 0:
        w[W_GO] &= ~all_lanes
        return int64(1)
    complete = True
    for lane in range(LANES):
        if (mask >> lane) & 1 and _waits(context, shared_offset(a[lane]), p[lane]):
            complete = False
            break
    if complete:
        w[W_GO] &= ~all_lanes
        return int64(1)
    y = _waiter(context, pointer(context, int64)[WARP])
    for lane in range(LANES):
        if (all_lanes >> lane) & 1:
            y[Y_SITES + lane] = site
            y[Y_BLOCKS + lane] = block
            y[Y_PLACES + lane] = shared_offset(a[lane]) if (mask >> lane) & 1 else int64(-1)
            y[Y_WANTS + lane] = p[lane]
    w[W_HELD] |= all_lanes
    return int64(0)


@native
def resume(context: int, warp: int, forced: bool) -> bool:
    """Lets those lanes of a warp go on whose phases are complete, or all; those that wait at one place together."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
    y = _waiter(context, warp)
    left = w[W_HELD]
    resumed = False
    for first in range(LANES):
        if not (left >> first) & 1:
            continue
        block, group, complete, gives_up = y[Y_BLOCKS + first], int64(0), True, forced
        for lane in range(first, LANES):
            if (left >> lane) & 1 and y[Y_BLOCKS + lane] == block:
                group |= int64(1) << lane
                there = y[Y_PLACES + lane]
                if there == AT_CLUSTER:
                    complete = complete and cluster_passed(context, warp, int64(lane))
                    gives_up = False
                elif there >= 0:
                    complete = complete and _look(context, there, y[Y_WANTS + lane])
        left &= ~group
        if complete or gives_up:
            w[W_HELD] &= ~group
            w[W_MASKS + block] |= group
            w[W_STATUS] = RUNNING
            resumed = True
            if not complete:
                w[W_GO] |= group
    return resumed


@native
def resume_ready(context: int) -> bool:
    """Where no warp of the block runs: lets those go on that can; whether there was one."""
    c = pointer(context, int64)
    resumed = False
    for warp in range(c[WARPS] if c[TRANSACTIONS] else 0):
        resumed |= resume(context, int64(warp), False)
    return resumed


@native
def time_out(context: int) -> bool:
    """Where nobody can: lets all go on that wait for mbarriers, if something has happened since that was last done, or
    it was not done often; whether there was one."""
    c = pointer(context, int64)
    if c[TRANSACTIONS] == 0:
        return False
    x = pointer(c[TRANSACTIONS], int64)
    if x[X_STEPS] != x[X_STEPS_THEN]:
        x[X_STEPS_THEN] = x[X_STEPS]
        x[X_TIMEOUTS] = 0
    x[X_TIMEOUTS] += 1
    if x[X_TIMEOUTS] > PATIENCE:
        return False
    resumed = False
    for warp in range(c[WARPS]):
        resumed |= resume(context, int64(warp), True)
    return resumed


@native
def note_stuck(context: int) -> None:
    """Of a block that is deadlocked: what is missing where warps wait, if there is one at a phase that has begun."""
    if not _note_waiting(context, True):
        _note_waiting(context, False)
    if pointer(context, int64)[TRANSACTIONS]:
        note_repeated(context)


@native
def _note_waiting(context: int, begun: bool) -> bool:
    """Notes what is missing where the first lane of each warp waits, of phases that have `begun` alone or of all."""
    c = pointer(context, int64)
    noted = False
    for warp in range(c[WARPS]):
        held = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_HELD]
        y = _waiter(context, int64(warp))
        for lane in range(LANES):
            if (held >> lane) & 1 and y[Y_PLACES + lane] == AT_CLUSTER:
                c[WARP] = warp
                apart, alive = threads_apart(context)
                note(context, y[Y_SITES + lane], APART, int64(lane), int64(0), alive << TOKEN_COUNT | apart)
                noted = True
                break
            if (held >> lane) & 1 and y[Y_PLACES + lane] >= 0:
                c[WARP] = warp
                site, offset = y[Y_SITES + lane], y[Y_PLACES + lane]
                entry = entry_of(context, offset)
                m = pointer(entry, int64)
                arrived = m[M_EXPECTED] - m[M_PENDING]
                phase = m[M_PHASE]
                if m[M_PENDING] == 0:
                    other = of_phase(phase, m[M_BYTES], m[M_ARRIVED])
                    note(context, site, OTHER_BYTES, lane, offset, other)
                    noted = True
                elif (
                    arrived == 0 and not begun and y[Y_WANTS + lane] < 0 and missed_one(context, m[M_KEY] - 1)
                ):
                    note(context, site, WRONG_PARITY, lane, offset, of_phase(phase, int64(0), phase + 1))
                    noted = True
                elif arrived > 0 or not begun:
                    kind = SKIPPED if arrived == 0 and has_jumped(context, offset) else FEW_ARRIVALS
                    note_phase(context, site, kind, lane, entry, of_phase(phase, m[M_EXPECTED], arrived))
                    noted = True
                break
    return noted
