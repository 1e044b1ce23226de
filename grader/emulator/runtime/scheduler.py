"""Runs blocks: every warp until it waits or ends, then barriers open, until all warps are done.

Warps of a block run one after the other, in rising order, each up to its next barrier; one that spins gives way
to the others from time to time, and to other blocks where its own may wait for them. Where nobody can go on and no
barrier opens, the block is deadlocked.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.barriers import note_deadlock, open_complete, open_counted
from grader.emulator.runtime.layout import (  # fmt: skip
    ASYNC,
    ASYNC_WARP_BYTES,
    BARRIER_CLOCK,
    BLOCK_BUDGET,
    BLOCK_CLOCK,
    BLOCK_FENCES,
    BLOCK_LINEAR,
    BLOCK_SERIAL,
    BLOCK_VECTOR,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    BLOCKS,
    BUDGET,
    BUDGET_SPENT,
    CLOCK,
    COPIES,
    DEADLOCKED,
    DONE,
    EXECUTED,
    FAILED_BLOCK,
    FAILED_WARP,
    FULL,
    GRID_X,
    GRID_Y,
    HELD_BYTES,
    HELD_SLOTS,
    LANES,
    LAST_SERIAL,
    LAUNCH_BUDGET,
    LAUNCH_BUDGET_SPENT,
    LONGEST_WARP,
    PROGRESS,
    Q_FIRST,
    Q_GROUPS,
    Q_NEXT,
    RANDOM,
    RESIDENT_COUNT,
    RESIDENTS,
    RUNNING,
    SHADOW_SHIFT,
    SHARED_BYTES,
    SHARED_USED,
    STARVED,
    THREADS,
    TRAPPED,
    W_EXECUTED,
    W_LIVE,
    W_MASKS,
    W_PATIENCE,
    W_SPIN,
    W_STATUS,
    W_SYNC_CLOCK,
    W_TURN,
    WAITING,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
)
from grader.emulator.runtime.native import call_kernel, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import forget
from grader.emulator.runtime.spaces.shared_use import granules_used, settle_interval


@native
def _begin_block(context: int, linear: int) -> None:
    c = pointer(context, int64)
    c[BLOCK_LINEAR] = linear
    c[BLOCK_X] = linear % c[GRID_X]
    c[BLOCK_Y] = linear // c[GRID_X] % c[GRID_Y]
    c[BLOCK_Z] = linear // (c[GRID_X] * c[GRID_Y])
    c[LAST_SERIAL] += 1
    c[BLOCK_SERIAL] = c[LAST_SERIAL]
    c[BLOCK_FENCES] = 0
    c[COPIES] = 0
    c[CLOCK] += 1
    c[BLOCK_CLOCK] = c[CLOCK]
    c[BARRIER_CLOCK] = c[CLOCK]
    c[BUDGET] = c[BLOCK_BUDGET]
    for warp in range(c[WARPS]):
        w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
        threads = c[THREADS] - warp * LANES
        w[W_STATUS] = RUNNING
        w[W_LIVE] = FULL if threads >= LANES else (int64(1) << threads) - 1
        w[W_SYNC_CLOCK] = c[CLOCK]
        for i in range(W_SPIN, W_MASKS + 2 * c[BLOCKS]):
            w[i] = 0
        w[W_MASKS] = w[W_LIVE]
        # Registers nobody has written hold NaN, in every run the same, and not what an earlier block left.
        for i in range(W_MASKS + 2 * c[BLOCKS], c[WARP_BYTES] // 8):
            w[i] = -1
        if c[ASYNC]:
            queue = pointer(c[ASYNC] + warp * ASYNC_WARP_BYTES, int64)
            queue[Q_FIRST] = queue[Q_NEXT] = queue[Q_GROUPS] = 0


@native
def _patience(context: int) -> int:
    """How many accesses that other blocks see the next warp may make before it gives way."""
    c = pointer(context, int64)
    return _random(context) & 3 if c[RANDOM] else int64(1) << 62


@native
def _any_warp(context: int, status: int) -> bool:
    """Whether some warp of the block has this status."""
    c = pointer(context, int64)
    found = False
    for warp in range(c[WARPS]):
        found |= pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_STATUS] == status
    return found


@native
def _advance(context: int, kernel: int) -> int:
    """Every warp of the block until it waits, ends or gives way, until a barrier opens. Returns RUNNING where the
    block has given way, else DONE, BUDGET_SPENT, TRAPPED or DEADLOCKED."""
    c = pointer(context, int64)
    while True:
        for warp in range(c[WARPS]):
            state = c[WARP_STATES] + warp * c[WARP_BYTES]
            w = pointer(state, int64)
            if w[W_STATUS] == RUNNING:
                c[WARP] = warp
                budget = c[BUDGET]
                w[W_PATIENCE] = _patience(context)
                w[W_STATUS] = call_kernel(kernel, context, state)
                w[W_EXECUTED] += budget - c[BUDGET]
                c[LONGEST_WARP] = max(c[LONGEST_WARP], w[W_EXECUTED])
                open_counted(context, state)
            if w[W_STATUS] == BUDGET_SPENT or w[W_STATUS] == TRAPPED:
                c[FAILED_BLOCK] = c[BLOCK_LINEAR]
                c[FAILED_WARP] = warp
                return w[W_STATUS]
        running = _any_warp(context, int64(RUNNING))
        if not running and not _any_warp(context, int64(WAITING)):
            forget(context)
            settle_interval(context)
            c[SHARED_USED] = max(c[SHARED_USED], granules_used(context, c[SHARED_BYTES] >> c[SHADOW_SHIFT]))
            return int64(DONE)
        opened = open_complete(context)
        if running:
            return int64(RUNNING)
        if not opened:
            note_deadlock(context)
            return int64(DEADLOCKED)


@native
def next_turn(warp: int, blocks: int) -> int:
    """The basic block with lanes waiting to run it that comes behind the one whose turn it was last."""
    w = pointer(warp, int64)
    turn = w[W_TURN]
    for _ in range(blocks):
        turn = (turn + 1) % blocks
        if w[W_MASKS + turn]:
            break
    w[W_TURN] = turn
    return turn


@native
def run_blocks(context: int, kernel: int, linears: int, count: int) -> int:
    """Runs the blocks in the list (a pointer to int64), in its order; stops at the first that fails."""
    c = pointer(context, int64)
    if c[RESIDENT_COUNT] > 1:
        return _take_turns(context, kernel, linears, count)
    ids = pointer(linears, int64)
    for i in range(count):
        _begin_block(context, ids[i])
        status = _advance(context, kernel)
        while status == RUNNING:
            status = _advance(context, kernel)
        if status != DONE:
            return status
        c[EXECUTED] += c[BLOCK_BUDGET] - c[BUDGET]
        if c[EXECUTED] > c[LAUNCH_BUDGET]:
            return int64(LAUNCH_BUDGET_SPENT)
    return int64(DONE)


# -- blocks that take turns -----------------------------------------------------------------------------------------


@native
def _random(context: int) -> int:
    """The next number of a linear congruential generator (Knuth's MMIX), without its low bits."""
    c = pointer(context, int64)
    c[RANDOM] = c[RANDOM] * 6364136223846793005 + 1442695040888963407
    return (c[RANDOM] >> 33) & 0x3FFFFFFF


@native
def _held(context: int, resident: int) -> int:
    return pointer(context, int64)[RESIDENTS] + resident * HELD_BYTES


@native
def _is_taken(context: int, resident: int) -> bool:
    return pointer(_held(context, resident), int64)[len(HELD_SLOTS)] != 0


@native
def _leave(context: int, resident: int, status: int) -> None:
    """Puts away what is a block's own, until its next turn."""
    c = pointer(context, int64)
    h = pointer(_held(context, resident), int64)
    for i in range(len(HELD_SLOTS)):
        h[i] = c[HELD_SLOTS[i]]
    h[len(HELD_SLOTS)] = int64(status == RUNNING)


@native
def _enter(context: int, resident: int) -> None:
    c = pointer(context, int64)
    h = pointer(_held(context, resident), int64)
    for i in range(len(HELD_SLOTS)):
        c[HELD_SLOTS[i]] = h[i]


@native
def _next_resident(context: int, last: int, begun: bool) -> int:
    """Whose turn it is: the next place behind `last` with a block, or a free one if blocks are left to begin. Where the
    order is random, any such place."""
    c = pointer(context, int64)
    start = last
    if c[RANDOM]:
        start = _random(context) % c[RESIDENT_COUNT]
    for step in range(1, c[RESIDENT_COUNT] + 1):
        place = (start + step) % c[RESIDENT_COUNT]
        if _is_taken(context, place) or not begun:
            return place
    return last


@native
def _take_turns(context: int, kernel: int, linears: int, count: int) -> int:
    """As `run_blocks`, but a block that gives way, as it spins or by chance, lets others run: as many at a time as the
    device holds. Where none of them gets on, they wait in vain: STARVED if blocks are left that could not begin."""
    c = pointer(context, int64)
    ids = pointer(linears, int64)
    begun, done = int64(0), int64(0)
    place = int64(-1)
    idle, progress = int64(0), c[PROGRESS]
    while done < count:
        place = _next_resident(context, place, begun == count)
        fresh = not _is_taken(context, place)
        _enter(context, place)
        if fresh:
            c[BLOCK_VECTOR] = 0
            _begin_block(context, ids[begun])
            begun += 1
        budget = c[BUDGET]
        status = _advance(context, kernel)
        idle += budget - c[BUDGET]
        _leave(context, place, status)
        if status == DONE:
            done += 1
            place -= 1
        elif status != RUNNING:
            return status
        if fresh or status == DONE or c[PROGRESS] != progress:
            idle, progress = int64(0), c[PROGRESS]
        elif idle > min(c[BLOCK_BUDGET], int64(1) << 24) + (c[RESIDENT_COUNT] << 13):
            c[FAILED_BLOCK] = c[BLOCK_LINEAR]
            return int64(BUDGET_SPENT) if begun == count else int64(STARVED)
    return int64(DONE)
