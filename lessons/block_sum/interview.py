"""Answers to the probes of this interview: queues of atomics, trees, bytes in flight."""

import numpy as np

from grader.analysis.access import LANES

FLOAT = 4  # bytes
BLOCK = 256
SMS = 132  # multiprocessors of an H200


def atomics_left(block: int, exponent: int) -> int:
    """One atomicAdd for each block."""
    return int(2**exponent // block)


def shortest_time(millions: int, rate: float) -> float:
    """Microseconds: millions of bytes over TB/s."""
    return FLOAT * millions / rate


def time_of_queue(clocks: int, exponent: int, block: int) -> float:
    """Milliseconds of 2^exponent additions to one word, `clocks` at 1.6 GHz each."""
    return float(2**exponent) * clocks / 1.6e6


def rate_of_reading(clocks: int, clock: float) -> float:
    """GB/s of a float for each addition to one word."""
    return FLOAT * clock / clocks


def time_of_short_queue(block: int, clocks: int) -> dict[str, float]:
    """Microseconds of one addition a block, for 2^22 numbers at 1.6 GHz."""
    atomics = 2**22 // block
    return {"answer": atomics * clocks / 1600, "atomics": atomics}


def warps_without_work(block: int, half: int) -> dict[str, float]:
    """Warps of a block beyond its first `half` threads."""
    warps, working = block // LANES, -(-half // LANES)
    return {"answer": warps - working, "warps": warps, "working": working}


def kib_under_way(threads: int) -> float:
    """KiB of a float a thread."""
    return FLOAT * threads / 1024


def number_of_turn(blocks: int, thread: int, number: int, turns: int) -> dict[str, float]:
    """The element of a thread in a grid-stride loop."""
    stride = blocks * BLOCK
    return {"answer": number * BLOCK + thread + turns * stride, "stride": stride}


def numbers_a_tree(blocks: int, exponent: int) -> float:
    """Numbers for each block of a grid that fills the GPU."""
    return float(2**exponent) / (SMS * blocks)


def faster_tree(time: float) -> float:
    """What is bound by memory does not gain from a faster tree."""
    return time


def share_of_trees(numbers: int) -> float:
    """Per cent: 256 additions of tree and atomic for a block's 256 · `numbers`."""
    return 100 / numbers


def requests_of_float4s(numbers: int) -> int:
    """Requests of 32 float4s."""
    return numbers // (4 * LANES)


def what_is_left(threads: int, first: int) -> int:
    """Additions that are not lost: those that came by themselves, and one of the rest."""
    return first + 1


def numbers_to_rely_on(block: int, sync: str) -> int:
    """Numbers that a thread can be sure of, after each kind of synchronisation."""
    return {"`__syncthreads()`": block, "`__syncwarp()`": LANES}.get(sync, 1)


def order_of_sums(small: float, order: str) -> float:
    """An FP32 sum of `small`, 10⁸ and −10⁸ in the order as written."""
    values = {"s": small, "10⁸": 1e8, "−10⁸": -1e8}
    total = np.float32(0)
    for name in order.split(", "):
        total = np.float32(total + np.float32(values[name]))
    return float(total)
