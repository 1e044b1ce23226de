"""The 16 barriers of a block (PTX ISA 9.7.13.1): who has arrived, when they open, and what is forbidden there.

A barrier opens when as many threads have arrived as its instructions say, or without a number when every thread that
has not exited waits: exited threads count as arrived, as on hardware since Volta. Threads are counted by warps: one
of which all remaining lanes have arrived counts as 32. Lanes wait one by one, so those of a warp may come in any order.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    ALIGNED,
    ARRIVES,
    B_ARRIVED,
    B_ARRIVED_AT,
    B_ARRIVED_PATH,
    B_EXPECTED,
    B_TRUE,
    B_WAITING,
    BARRIER_CLOCK,
    BARRIER_FAULT,
    BARRIER_FAULT_BLOCK,
    BARRIER_FAULT_ONE,
    BARRIER_FAULT_OTHER,
    BARRIER_FAULTS,
    BARRIER_SLOTS,
    BARRIERS,
    BLOCK_LINEAR,
    BLOCKS,
    BYPASSED,
    CLOCK,
    DEADLOCKED_AT,
    FIELD,
    HELD_SHIFT,
    LANES,
    LOADED,
    LOADED_BEFORE_BARRIER,
    LONGEST_SLEEP,
    MISCOUNTED,
    RUNNING,
    SECTORS,
    SPLIT,
    W_ALIGNED,
    W_AT,
    W_BARRIERS,
    W_HELD,
    W_LIVE,
    W_MASKS,
    W_PASSED,
    W_PASSED_AT,
    W_PATH,
    W_STATUS,
    W_SYNC_CLOCK,
    W_THREADS,
    W_TRUE,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
)
from grader.emulator.runtime.native import pointer, population, trailing_zeros
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.ordering import learn, meet
from grader.emulator.runtime.races.paths import path
from grader.emulator.runtime.spaces.shared_use import settle_interval


@native
def _note(context: int, fault: int, behind: int, other: int) -> None:
    """Notes the first fault at a barrier and counts the others; `behind` is the basic block behind the barrier."""
    c = pointer(context, int64)
    if c[BARRIER_FAULTS] == 0:
        c[BARRIER_FAULT] = fault
        c[BARRIER_FAULT_BLOCK] = c[BLOCK_LINEAR]
        c[BARRIER_FAULT_ONE] = behind
        c[BARRIER_FAULT_OTHER] = other
    c[BARRIER_FAULTS] += 1


@native
def arrive_at(
    context: int, warp: int, behind: int, number: int, expected: int, mask: int, how: int, votes: int
) -> int:
    """Lanes of a warp arrive at barrier `number`; unless they only announce themselves (ARRIVES), they wait there."""
    c = pointer(context, int64)
    w = pointer(warp, int64)
    unnumbered = how & ARRIVES and expected == 0
    if number < 0 or number >= BARRIERS or expected % LANES or expected < 0 or unnumbered:
        _note(context, int64(MISCOUNTED), behind, (number & FIELD) << 40 | (expected & FIELD))
    number &= BARRIERS - 1
    b = pointer(warp + (W_BARRIERS + number * BARRIER_SLOTS) * 8, int64)
    w[W_AT] |= int64(1) << number
    b[B_EXPECTED] = max(b[B_EXPECTED], (max(expected, 0) + LANES - 1) // LANES * LANES)
    b[B_TRUE] += population(votes & mask)
    if how & ARRIVES:
        c[CLOCK] += 1
        b[B_ARRIVED_AT] = c[CLOCK]
        b[B_ARRIVED_PATH] = path(context)
        b[B_ARRIVED] += LANES if mask == w[W_LIVE] else population(mask)
        return int64(0)
    b[B_WAITING] |= mask
    w[W_MASKS + c[BLOCKS] + behind] |= mask
    w[W_ALIGNED] = (w[W_ALIGNED] | mask) if how & ALIGNED else (w[W_ALIGNED] & ~mask)
    w[W_PASSED] &= ~mask
    return int64(0)


@native
def pass_by(warp: int, behind: int, mask: int) -> int:
    """Lanes reach the point where they reconverge with others that wait at a barrier on the way."""
    w = pointer(warp, int64)
    w[W_PASSED] |= mask
    w[W_PASSED_AT] = behind
    return int64(0)


@native
def _barrier(context: int, warp: int, number: int) -> Any:
    """The slots of a barrier in a warp's state."""
    c = pointer(context, int64)
    return pointer(c[WARP_STATES] + warp * c[WARP_BYTES] + (W_BARRIERS + number * BARRIER_SLOTS) * 8, int64)


@native
def _arrived(context: int, number: int) -> int:
    """Threads that have arrived at a barrier."""
    c = pointer(context, int64)
    total = int64(0)
    for warp in range(c[WARPS]):
        b = _barrier(context, int64(warp), number)
        live = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_LIVE]
        whole = b[B_WAITING] != 0 and b[B_WAITING] == live
        total += LANES if whole else population(b[B_WAITING])
        total += b[B_ARRIVED]
    return total


@native
def _expected(context: int, number: int) -> int:
    """How many threads a barrier waits for; 0 for all."""
    c = pointer(context, int64)
    most = int64(0)
    for warp in range(c[WARPS]):
        most = max(most, _barrier(context, int64(warp), number)[B_EXPECTED])
    return most


@native
def _all_wait(context: int, number: int) -> bool:
    """Whether every thread that has not exited waits at a barrier."""
    c = pointer(context, int64)
    for warp in range(c[WARPS] - 1, -1, -1):
        live = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_LIVE]
        if _barrier(context, int64(warp), number)[B_WAITING] != live:
            return False
    return True


@native
def _votes_and_path(context: int, number: int) -> tuple[int, int, int]:
    """Of a reduction at a barrier: the threads whose predicate holds, and all that wait; and the longest path of loads
    that leads there."""
    c = pointer(context, int64)
    true, threads, longest = int64(0), int64(0), int64(0)
    for warp in range(c[WARPS]):
        b = _barrier(context, int64(warp), number)
        true += b[B_TRUE]
        threads += population(b[B_WAITING])
        longest = max(longest, b[B_ARRIVED_PATH])
        if b[B_WAITING]:
            longest = max(longest, pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_PATH])
    return true, threads, longest


@native
def _meet_in_part(context: int, number: int) -> None:
    """Orders the warps that wait at a barrier among themselves, and behind those that have only arrived there.

    The first that waits learns from all, and the others from it.
    """
    c = pointer(context, int64)
    first = int64(-1)
    for warp in range(c[WARPS]):
        if _barrier(context, int64(warp), number)[B_WAITING]:
            pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_SYNC_CLOCK] = c[CLOCK]
            first = int64(warp) if first < 0 else first
    for warp in range(c[WARPS]):
        b = _barrier(context, int64(warp), number)
        if first >= 0 and warp != first and b[B_WAITING] | b[B_ARRIVED]:
            learn(context, first, int64(warp), c[CLOCK] if b[B_WAITING] else b[B_ARRIVED_AT])
    for warp in range(first + 1, c[WARPS]):
        if _barrier(context, int64(warp), number)[B_WAITING]:
            learn(context, int64(warp), first, c[CLOCK])


@native
def _open(context: int, number: int, whole: bool) -> None:
    """Lets all go on that wait at a barrier; `whole` where it is one of the whole block."""
    c = pointer(context, int64)
    c[CLOCK] += 1
    if whole or _all_wait(context, number):
        meet(context)
        settle_interval(context)
        c[BARRIER_CLOCK] = c[CLOCK]
        c[LOADED_BEFORE_BARRIER] = c[LOADED]
    else:
        _meet_in_part(context, number)
    true, threads, longest = _votes_and_path(context, number)
    behind = int64(-1)
    for warp in range(c[WARPS]):
        state = c[WARP_STATES] + warp * c[WARP_BYTES]
        w = pointer(state, int64)
        if not (w[W_AT] >> number) & 1:
            continue
        w[W_AT] &= ~(int64(1) << number)
        b = _barrier(context, int64(warp), number)
        waiting = b[B_WAITING]
        for slot in range(BARRIER_SLOTS):
            b[slot] = 0
        if waiting == 0:
            continue
        w[W_STATUS] = RUNNING
        w[W_PATH] = longest
        w[W_TRUE] = true
        w[W_THREADS] = threads
        behind = _release(context, state, waiting, behind if whole else int64(-1))


@native
def _release(context: int, warp: int, waiting: int, behind: int) -> int:
    """Lets lanes of a warp go on; notes those at another place than the last ones that were let go, which is the basic
    block `behind`. Returns the last place."""
    c = pointer(context, int64)
    w = pointer(warp, int64)
    count = c[BLOCKS]
    if w[W_PASSED]:
        _note(context, int64(BYPASSED), w[W_PASSED_AT], int64(0))
        w[W_PASSED] = 0
    for i in range(count):
        lanes = w[W_MASKS + count + i] & waiting
        if lanes == 0:
            continue
        w[W_MASKS + i] |= lanes
        w[W_MASKS + count + i] &= ~lanes
        if lanes & w[W_ALIGNED]:
            if behind >= 0 and behind != i:
                _note(context, int64(SPLIT), behind, i)
            behind = i
    return behind


@native
def open_counted(context: int, warp: int) -> None:
    """After a warp has run: opens the barriers that it was the last to arrive at, of those with a number of threads."""
    w = pointer(warp, int64)
    used = w[W_AT]
    while used:
        number = trailing_zeros(used)
        used &= used - 1
        if pointer(warp + (W_BARRIERS + number * BARRIER_SLOTS) * 8, int64)[B_EXPECTED] == 0:
            continue
        if _arrived(context, number) >= _expected(context, number):
            _open(context, number, False)


@native
def open_complete(context: int) -> bool:
    """Opens the barriers at which everybody has arrived that they wait for; whether there was one."""
    c = pointer(context, int64)
    used = int64(0)
    for warp in range(c[WARPS]):
        used |= pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_AT]
    opened = False
    while used:
        number = trailing_zeros(used)
        used &= used - 1
        expected = _expected(context, number)
        if _arrived(context, number) >= expected if expected else _all_wait(context, number):
            _open(context, number, expected == 0)
            opened = True
    return opened


@native
def note_deadlock(context: int) -> None:
    """Notes the barrier that the first waiting warp waits at, how many have arrived of how many, and whether as many as
    are missing at a barrier with a number of threads wait at mbarriers, counted by warps."""
    c = pointer(context, int64)
    alive, held = int64(0), int64(0)
    for warp in range(c[WARPS]):
        w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
        alive += population(w[W_LIVE])
        held += LANES if w[W_HELD] else 0
    for warp in range(c[WARPS]):
        w = pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)
        for i in range(c[BLOCKS]):
            lanes = w[W_MASKS + c[BLOCKS] + i]
            for number in range(BARRIERS):
                if lanes & w[W_BARRIERS + number * BARRIER_SLOTS + B_WAITING]:
                    expected = _expected(context, number)
                    arrived = _arrived(context, number)
                    others_held = int64(expected > 0 and held >= expected - arrived)
                    counts = arrived << 20 | (expected if expected else alive)
                    packed = others_held << HELD_SHIFT | int64(number) << 40 | counts
                    _note(context, int64(DEADLOCKED_AT), int64(i), packed)
                    return


@native
def count_sleep(site: int, durations: int, mask: int) -> None:
    """Nanoseconds that a warp sleeps: as long as the lane that asks for most, as far as nanosleep goes."""
    asked = pointer(durations, int64)
    longest = int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            longest = max(longest, asked[lane])
    pointer(site, int64)[SECTORS] += min(longest, LONGEST_SLEEP)
