"""Runs blocks: every warp until it waits or ends, then barriers open, until all warps are done.

Warps of a block run one after the other, in rising order, each up to its next barrier; one that spins gives way
to the others from time to time, and to other blocks where its own may wait for them. Where nobody can go on and no
barrier opens, the block is deadlocked.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.barriers import note_deadlock, open_complete, open_counted
from grader.emulator.runtime.clusters.barrier import begin_cluster
from grader.emulator.runtime.clusters.peers import check_visitors, held
from grader.emulator.runtime.layout import (  # fmt: skip
    ACCESSOR_BITS,
    ADVANCED,
    ASYNC,
    ASYNC_WARP_BYTES,
    BARRIER_CLOCK,
    BLOCK_BUDGET,
    BLOCK_CLOCK,
    BLOCK_FENCES,
    BLOCK_LINEAR,
    BLOCK_LOADED,
    BLOCK_SERIAL,
    BLOCK_VECTOR,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    BLOCKS,
    BUDGET,
    BUDGET_SPENT,
    BULK_BESIDE,
    BULK_LOADS,
    BULK_READS,
    CLOCK,
    CLUSTER,
    CLUSTER_SIZE,
    CONFLICT,
    COPIES,
    DEADLOCKED,
    DONE,
    EVENS_FIRST,
    EXECUTED,
    FAILED_BLOCK,
    FAILED_WARP,
    FROM_LAST,
    FULL,
    GRID_X,
    GRID_Y,
    HELD_SLOTS,
    KNOWN_COUNT,
    LANES,
    LAST_SERIAL,
    LAUNCH_BUDGET,
    LAUNCH_BUDGET_SPENT,
    LEFT,
    LOADED,
    LOADED_BEFORE_BARRIER,
    LOCAL_MARKS,
    LONGEST_BLOCK,
    LONGEST_WARP,
    MOST_LOADED,
    MOST_STORED_AGAIN,
    NO_BLOCK,
    PROGRESS,
    Q_BESIDE,
    Q_DONE,
    Q_FIRST,
    Q_GROUPS,
    Q_NEXT,
    Q_READS,
    Q_UNDER_WAY,
    RANDOM,
    RANK,
    REGISTERS,
    REPEATING,
    RESERVED_BYTES,
    RESIDENT_COUNT,
    RUNNING,
    SHADOW_SHIFT,
    SHADOW_WRITES,
    SHARED_BYTES,
    SHARED_HOST,
    SHARED_USED,
    SHORT_TURN,
    STALLED,
    STARVED,
    STORED_AGAIN,
    TAKEN,
    THREADS,
    TRANSACTIONS,
    TRAPPED,
    UNDEFINED_LEFT,
    UNDO,
    UPDATED,
    W_EXECUTED,
    W_HELD,
    W_LIVE,
    W_MASKS,
    W_PATIENCE,
    W_SPIN,
    W_STATUS,
    W_SYNC_CLOCK,
    W_TURN,
    WAITING,
    WAITING_IN_VAIN,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARP_TURNS,
    WARPS,
)
from grader.emulator.runtime.native import call_kernel, outlined, pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.knowledge import known
from grader.emulator.runtime.races.ordering import forget
from grader.emulator.runtime.races.paths import begin_turn, end_paths, end_turn
from grader.emulator.runtime.registers import check_registers
from grader.emulator.runtime.spaces.shared_use import granules_used, settle_copies, settle_interval
from grader.emulator.runtime.spaces.undefined import begin_undefined
from grader.emulator.runtime.transactions.waits import resume, resume_ready, time_out

begin_transactions, end_copies, note_stuck = (
    outlined("begin_transactions"),
    outlined("end_copies"),
    outlined("note_stuck"),
)

OFTEN = 4
"""Times that blocks store what others have stored; less is what a few blocks beyond an end do, which take the last
element inside."""


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
    c[BLOCK_LOADED] = 0
    c[COPIES] = 0
    c[BULK_LOADS] = c[BULK_READS] = c[BULK_BESIDE] = 0
    c[UNDEFINED_LEFT] = 0
    if c[LOCAL_MARKS]:
        begin_undefined(context)
    c[CLOCK] += 1
    c[BLOCK_CLOCK] = c[CLOCK]
    c[BARRIER_CLOCK] = c[CLOCK]
    c[LOADED_BEFORE_BARRIER] = c[LOADED]
    c[BUDGET] = c[BLOCK_BUDGET]
    if c[TRANSACTIONS]:
        begin_transactions(context)
    if c[CLUSTER] and c[RANK] == 0:
        begin_cluster(context)
    _clear_reserved(context)
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
        knows = known(context, int64(warp))
        for other in range(c[KNOWN_COUNT] if c[CLUSTER_SIZE] > 1 else 0):
            knows[other] = 0
        if c[ASYNC]:
            queue = pointer(c[ASYNC] + warp * ASYNC_WARP_BYTES, int64)
            queue[Q_FIRST] = queue[Q_NEXT] = queue[Q_GROUPS] = 0
            queue[Q_READS] = queue[Q_DONE] = queue[Q_BESIDE] = queue[Q_UNDER_WAY] = 0


@native
def _clear_reserved(context: int) -> None:
    """The shared memory that the system keeps for itself: zeros, which nobody of the block has written."""
    c = pointer(context, int64)
    words, writes = pointer(c[SHARED_HOST], int64), pointer(c[SHADOW_WRITES], int64)
    for i in range(c[RESERVED_BYTES] // 8):
        words[i] = 0
    for i in range(c[RESERVED_BYTES] >> c[SHADOW_SHIFT]):
        writes[i] = (c[CLOCK] << ACCESSOR_BITS) | UPDATED


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
def _of_turn(context: int, turn: int) -> int:
    """The warp of the block whose turn it is."""
    c = pointer(context, int64)
    if c[WARP_TURNS] == FROM_LAST:
        return c[WARPS] - 1 - turn
    if c[WARP_TURNS] == EVENS_FIRST:
        odd = 2 * turn - c[WARPS]
        return 2 * turn if odd < 0 else (odd | 1)
    return turn


@native
def _advance(context: int, kernel: int) -> int:
    """Every warp of the block until it waits, ends or gives way, until a barrier opens. Returns RUNNING where the
    block has given way, STALLED where all warps wait and others of a cluster may help, else DONE, BUDGET_SPENT, TRAPPED
    or DEADLOCKED."""
    c = pointer(context, int64)
    while True:
        for turn in range(c[WARPS]):
            warp = _of_turn(context, turn)
            state = c[WARP_STATES] + warp * c[WARP_BYTES]
            w = pointer(state, int64)
            if w[W_HELD] and w[W_STATUS] == WAITING:
                resume(context, int64(warp), False)
            if w[W_STATUS] == RUNNING:
                c[WARP] = warp
                budget = c[BUDGET]
                w[W_PATIENCE] = _patience(context)
                begin_turn(context, state)
                w[W_STATUS] = call_kernel(kernel, context, state)
                end_turn(context, state)
                w[W_EXECUTED] += budget - c[BUDGET]
                c[LONGEST_WARP] = max(c[LONGEST_WARP], w[W_EXECUTED])
                open_counted(context, state)
            if w[W_STATUS] == BUDGET_SPENT or w[W_STATUS] == TRAPPED:
                c[FAILED_BLOCK] = c[BLOCK_LINEAR]
                c[FAILED_WARP] = warp
                return w[W_STATUS]
        running = _any_warp(context, int64(RUNNING))
        if not running and not _any_warp(context, int64(WAITING)):
            _finish_block(context)
            return int64(DONE)
        opened = open_complete(context)
        if running:
            return int64(RUNNING)
        if opened or resume_ready(context):
            continue
        if c[CLUSTER_SIZE] > 1:
            return int64(STALLED)
        if not time_out(context):
            _note_end(context)
            return int64(DEADLOCKED)


@native
def _finish_block(context: int) -> None:
    """At the end of a block."""
    c = pointer(context, int64)
    c[LONGEST_BLOCK] = max(c[LONGEST_BLOCK], c[BLOCK_BUDGET] - c[BUDGET])
    c[MOST_LOADED] = max(c[MOST_LOADED], c[BLOCK_LOADED])
    end_paths(context)
    if c[TRANSACTIONS]:
        end_copies(context)
    if c[REGISTERS]:
        check_registers(context)
    forget(context)
    if c[CLUSTER_SIZE] > 1:
        check_visitors(context)
    settle_interval(context)
    settle_copies(context)
    c[SHARED_USED] = max(c[SHARED_USED], granules_used(context, c[SHARED_BYTES] >> c[SHADOW_SHIFT]))


@native
def _note_end(context: int) -> None:
    """Notes what the warps of a block wait for that never get on."""
    note_deadlock(context)
    if pointer(context, int64)[TRANSACTIONS]:
        note_stuck(context)


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
        if _repeats(context):
            return int64(REPEATING)
        if c[CONFLICT] and c[UNDO]:  # the launch is undone, whatever the other blocks do
            return int64(DONE)
    return int64(DONE)


@native
def _repeats(context: int) -> bool:
    """Whether blocks have stored what others had stored, so often and at such a cost that it is a mistake."""
    c = pointer(context, int64)
    return c[STORED_AGAIN] > c[MOST_STORED_AGAIN] and c[STORED_AGAIN] > OFTEN * c[PROGRESS]


# -- blocks that take turns -----------------------------------------------------------------------------------------


@native
def _random(context: int) -> int:
    """The next number of a linear congruential generator (Knuth's MMIX), without its low bits."""
    c = pointer(context, int64)
    c[RANDOM] = c[RANDOM] * 6364136223846793005 + 1442695040888963407
    return (c[RANDOM] >> 33) & 0x3FFFFFFF


@native
def _state(context: int, resident: int) -> int:
    """Of a place among the blocks under way: NO_BLOCK, TAKEN or LEFT."""
    return held(context, resident)[len(HELD_SLOTS)]


@native
def _leave(context: int, resident: int, state: int) -> None:
    """Puts away what is a block's own, until its next turn."""
    c = pointer(context, int64)
    h = held(context, resident)
    for i in range(len(HELD_SLOTS)):
        h[i] = c[HELD_SLOTS[i]]
    h[len(HELD_SLOTS)] = state


@native
def _enter(context: int, resident: int) -> None:
    c = pointer(context, int64)
    h = held(context, resident)
    for i in range(len(HELD_SLOTS)):
        c[HELD_SLOTS[i]] = h[i]


@native
def _next_resident(context: int, last: int, begun: bool) -> int:
    """Whose turn it is: the next place behind `last` with a block, or the first of free ones for a cluster if blocks
    are left to begin. Where the order is random, any such place."""
    c = pointer(context, int64)
    start = last
    if c[RANDOM]:
        start = _random(context) % c[RESIDENT_COUNT]
    for step in range(1, c[RESIDENT_COUNT] + 1):
        place = (start + step) % c[RESIDENT_COUNT]
        free = _state(context, place) == NO_BLOCK and place % c[CLUSTER_SIZE] == 0
        if _state(context, place) == TAKEN or (free and not begun):
            return place
    return last


@native
def _begin(context: int, place: int, linears: int) -> None:
    """Begins a cluster of blocks, or one where there are none, from a place on."""
    c = pointer(context, int64)
    for rank in range(c[CLUSTER_SIZE]):
        _enter(context, place + rank)
        c[BLOCK_VECTOR] = 0
        _begin_block(context, pointer(linears, int64)[rank])
        _leave(context, place + rank, int64(TAKEN))


@native
def _end(context: int, place: int) -> bool:
    """A block has ended; whether it was the last of its cluster, whose places are free then."""
    c = pointer(context, int64)
    first = place - place % c[CLUSTER_SIZE]
    _leave(context, place, int64(LEFT))
    for other in range(first, first + c[CLUSTER_SIZE]):
        if _state(context, int64(other)) != LEFT:
            return False
    for other in range(first, first + c[CLUSTER_SIZE]):
        held(context, int64(other))[len(HELD_SLOTS)] = NO_BLOCK
    return True


@native
def _goes_on(context: int, place: int) -> bool:
    """Whether a block that has its turn has warps that run, or lets some go on that wait."""
    _enter(context, place)
    goes_on = _any_warp(context, int64(RUNNING)) or resume_ready(context)
    _leave(context, place, int64(TAKEN))
    return goes_on


@native
def _help_stalled(context: int, place: int) -> bool:
    """All warps of a block wait. Where those of its whole cluster do, waits time out; False where that is in vain."""
    c = pointer(context, int64)
    first = place - place % c[CLUSTER_SIZE]
    for other in range(first, first + c[CLUSTER_SIZE]):
        if _state(context, int64(other)) == TAKEN and _goes_on(context, int64(other)):
            return True
    resumed = False
    for other in range(first, first + c[CLUSTER_SIZE]):
        if _state(context, int64(other)) == TAKEN:
            _enter(context, int64(other))
            resumed |= time_out(context)
            _leave(context, int64(other), int64(TAKEN))
    for other in range(first, first + c[CLUSTER_SIZE]):
        if _state(context, int64(other)) == TAKEN and not resumed:
            _enter(context, int64(other))
            _note_end(context)
    return resumed


@native
def _take_turns(context: int, kernel: int, linears: int, count: int) -> int:
    """As `run_blocks`, but a block that gives way, as it spins or by chance, lets others run: as many at a time as the
    device holds, or the blocks of a cluster. Where none of them gets on, they wait in vain: STARVED if blocks are left
    that could not begin."""
    c = pointer(context, int64)
    begun, done = int64(0), int64(0)
    place = int64(-1)
    idle, progress = int64(0), c[PROGRESS] + c[ADVANCED]
    alone = c[RESIDENT_COUNT] == c[CLUSTER_SIZE]
    while done < count:
        place = _next_resident(context, place, begun == count)
        fresh = _state(context, place) == NO_BLOCK
        if fresh:
            _begin(context, place, linears + begun * 8)
            begun += c[CLUSTER_SIZE]
        _enter(context, place)
        budget = c[BUDGET]
        status = _advance(context, kernel)
        idle += max(budget - c[BUDGET], SHORT_TURN)
        if status == DONE:
            done += 1
            if alone:
                c[EXECUTED] += c[BLOCK_BUDGET] - c[BUDGET]
                if c[EXECUTED] > c[LAUNCH_BUDGET]:
                    return int64(LAUNCH_BUDGET_SPENT)
            if _repeats(context):
                return int64(REPEATING)
            if _end(context, place):
                place -= place % c[CLUSTER_SIZE] + 1
        elif status in (RUNNING, STALLED):
            _leave(context, place, int64(TAKEN))
            if status == STALLED and not _help_stalled(context, place):
                c[FAILED_BLOCK] = c[BLOCK_LINEAR]
                return int64(DEADLOCKED)
        else:
            return status
        if fresh or status == DONE or c[PROGRESS] + c[ADVANCED] != progress:
            idle, progress = int64(0), c[PROGRESS] + c[ADVANCED]
        elif not alone and idle > min(c[BLOCK_BUDGET], int64(1) << 24) + (c[RESIDENT_COUNT] << 13):
            c[FAILED_BLOCK] = c[BLOCK_LINEAR]
            return int64(WAITING_IN_VAIN) if begun == count else int64(STARVED)
    return int64(DONE)
