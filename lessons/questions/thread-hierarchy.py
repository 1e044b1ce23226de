"""Probes of thread-hierarchy: how a launch is cut into blocks and warps, and what runs at a time."""

from collections.abc import Callable
from math import ceil

from grader.analysis.occupancy import WARP

CONDITIONS: dict[str, Callable[[int], bool]] = {
    "threadIdx.x % 2 == 0": lambda x: x % 2 == 0,
    "threadIdx.x < 48": lambda x: x < 48,
    "threadIdx.x < 64": lambda x: x < 64,
    "threadIdx.x / 32 % 2 == 0": lambda x: x // 32 % 2 == 0,
    "threadIdx.x % 64 < 40": lambda x: x % 64 < 40,
}


def warp_of_thread(bx: int, by: int, x: int, y: int) -> dict[str, float]:
    """The warp of thread (x, y) of a block of bx × by threads.

    CUDA C++ Programming Guide, "Thread Hierarchy": the thread's number is x + y·Dx; warps are cut in that order.
    """
    assert x < bx
    assert y < by
    number = y * bx + x
    return {"answer": number // WARP, "number": number}


def warps_of_image(width: int, height: int, bx: int, by: int) -> dict[str, float]:
    """Warps of a grid that covers width × height pixels with blocks of bx × by threads.

    CUDA C++ Programming Guide, "SIMT Architecture": a block is cut into warps, the last of which may be partly empty.
    """
    blocks = ceil(width / bx) * ceil(height / by)
    warps = ceil(bx * by / WARP)
    return {"answer": blocks * warps, "blocks": blocks, "warps": warps}


def finish_time(sms: int, per_sm: int, blocks: int, us: int) -> dict[str, float]:
    """Microseconds of a launch whose blocks all take `us`: as many waves as it takes to place all of them.

    CUDA C++ Programming Guide, "Hardware Implementation": as blocks end, new ones are launched on the free SMs.
    """
    at_once = sms * per_sm
    waves = ceil(blocks / at_once)
    return {"answer": waves * us, "at_once": at_once, "waves": waves}


def shared_count(grid: int, block: int, step: int, index: int) -> int:
    """What one block counts in its own shared memory (Programming Guide, "Shared Memory": it belongs to a block)."""
    assert index < grid
    return block * step


def largest_waiting_grid(sms: int, per_sm: int) -> int:
    """The most blocks that are resident at a time: no block of an ordinary launch leaves before it has finished."""
    return sms * per_sm


def issued_for_branch(threads: int, condition: str, yes: int, no: int) -> dict[str, float]:
    """Instructions that a block's warps issue for the two sides of a branch.

    CUDA C++ Programming Guide, "SIMT Architecture": a warp executes each branch path that one of its threads takes.
    """
    holds = CONDITIONS[condition]
    sides = [{holds(thread) for thread in range(first, first + WARP)} for first in range(0, threads, WARP)]
    issued = sum(yes * (True in side) + no * (False in side) for side in sides)
    return {
        "answer": issued,
        "only_yes": sides.count({True}),
        "only_no": sides.count({False}),
        "both": sides.count({True, False}),
    }


def idle_threads(n: int, threads: int) -> dict[str, float]:
    """Threads of a grid, rounded up to whole blocks, that have no element."""
    blocks = ceil(n / threads)
    return {"answer": blocks * threads - n, "blocks": blocks, "launched": blocks * threads}


def slots_filled(room: str, threads: int) -> dict[str, float]:
    """Per cent of an SM's warp slots that blocks of `threads` threads fill.

    The limits on warps and blocks are those of the Programming Guide's "Technical Specifications".
    """
    slots, most_blocks = (int(word) for word in room.split() if word.isdigit())
    warps = ceil(threads / WARP)
    blocks = min(most_blocks, slots // warps)
    return {
        "answer": 100 * blocks * warps / slots,
        "warps": warps,
        "blocks": blocks,
        "filled": blocks * warps,
        "slots": slots,
    }
