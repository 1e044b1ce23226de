"""Runs blocks: every warp until it waits or ends, then barriers open, until all warps are done.

Warps of a block run one after the other, in rising order, each up to its next barrier; one that spins gives way
to the others from time to time. Where nobody can go on and no barrier opens, the block is deadlocked.
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
    BLOCK_LINEAR,
    BLOCK_SERIAL,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    BLOCKS,
    BUDGET,
    BUDGET_SPENT,
    CLOCK,
    DEADLOCKED,
    DONE,
    FAILED_BLOCK,
    FAILED_WARP,
    FULL,
    GRID_X,
    GRID_Y,
    LANES,
    LONGEST_WARP,
    Q_FIRST,
    Q_GROUPS,
    Q_NEXT,
    RUNNING,
    THREADS,
    TRAPPED,
    W_AT,
    W_EXECUTED,
    W_LIVE,
    W_MASKS,
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


@native
def _begin_block(context: int, linear: int) -> None:
    c = pointer(context, int64)
    c[BLOCK_LINEAR] = linear
    c[BLOCK_X] = linear % c[GRID_X]
    c[BLOCK_Y] = linear // c[GRID_X] % c[GRID_Y]
    c[BLOCK_Z] = linear // (c[GRID_X] * c[GRID_Y])
    c[BLOCK_SERIAL] += 1
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
        w[W_SPIN] = 0
        w[W_TURN] = 0
        w[W_EXECUTED] = 0
        for i in range(W_AT, W_MASKS + 2 * c[BLOCKS]):
            w[i] = 0
        w[W_MASKS] = w[W_LIVE]
        # Registers nobody has written hold NaN, in every run the same, and not what an earlier block left.
        for i in range(W_MASKS + 2 * c[BLOCKS], c[WARP_BYTES] // 8):
            w[i] = -1
        if c[ASYNC]:
            queue = pointer(c[ASYNC] + warp * ASYNC_WARP_BYTES, int64)
            queue[Q_FIRST] = queue[Q_NEXT] = queue[Q_GROUPS] = 0


@native
def run_block(context: int, kernel: int, linear: int) -> int:
    """Runs one block to its end. Returns DONE, BUDGET_SPENT, TRAPPED or DEADLOCKED."""
    c = pointer(context, int64)
    _begin_block(context, linear)
    while True:
        running = False
        waiting = False
        for warp in range(c[WARPS]):
            state = c[WARP_STATES] + warp * c[WARP_BYTES]
            w = pointer(state, int64)
            if w[W_STATUS] == RUNNING:
                c[WARP] = warp
                budget = c[BUDGET]
                w[W_STATUS] = call_kernel(kernel, context, state)
                w[W_EXECUTED] += budget - c[BUDGET]
                c[LONGEST_WARP] = max(c[LONGEST_WARP], w[W_EXECUTED])
                open_counted(context, state)
            if w[W_STATUS] == BUDGET_SPENT or w[W_STATUS] == TRAPPED:
                c[FAILED_BLOCK] = linear
                c[FAILED_WARP] = warp
                return w[W_STATUS]
            running |= w[W_STATUS] == RUNNING
            waiting |= w[W_STATUS] == WAITING
        if not running and not waiting:
            return int64(DONE)
        if not open_complete(context) and not running:
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
    ids = pointer(linears, int64)
    for i in range(count):
        status = run_block(context, kernel, ids[i])
        if status != DONE:
            return status
    return int64(DONE)
