"""Occupancy: what fits on an SM, and what keeps memory busy.

Source of the limits and units: CUDA C++ Programming Guide, Technical Specifications per Compute Capability, and
cuda_occupancy.h of the CUDA toolkit, by way of `grader.analysis.occupancy`.
"""

import math

from grader.analysis.devices import named
from grader.analysis.occupancy import QUARTERS, REGISTER_UNIT, REGISTERS, WARP, occupancy

H200 = named("H200")
MOST_REGISTERS = 255  # of a thread, from compute capability 3.5 on
MOST_THREADS = 2048  # of an SM of an A100 or H100
LIMITS = {
    "warps": "slots for warps",
    "registers": "registers",
    "shared memory": "shared memory",
    "blocks": "slots for blocks",
}


def percent(most: int, blocks: int, threads: int) -> dict[str, float]:
    """Resident warps over the most that the SM can hold, in per cent."""
    warps = blocks * math.ceil(threads / WARP)
    return {"answer": 100 * warps / most, "warps": warps}


def warps_to_hide(issue: int, wait: int) -> dict[str, float]:
    """Warps of which one can always issue: the others fill the clocks in which one waits."""
    others = math.ceil(wait / issue)
    return {"answer": 1 + others, "others": others}


def bytes_in_flight(latency_ns: float, bandwidth_tb: float, sms: int) -> dict[str, float | str]:
    """Little's law: concurrency = latency × throughput, shared evenly by the SMs.

    Source: J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961).
    """
    total = latency_ns * 1e-9 * bandwidth_tb * 1e12
    threads = total / sms / 4
    if threads > MOST_THREADS:
        so = "So each thread needs several loads in flight, or a wider one."
    else:
        so = "So one float per thread is enough at a high occupancy. With several or wider loads a lower one is enough."
    return {"answer": total / sms / 1024, "total_mib": total / 2**20, "threads": threads, "so": so}


def limited_by(threads: int, registers: int, shared_kib: int) -> dict[str, float | str]:
    """Which resource of an H200's SM admits the fewest blocks."""
    found = occupancy(H200, threads, registers, shared_kib * 1024)
    return {"answer": LIMITS[found.limited_by]} | _allowed(threads, registers, shared_kib)


def blocks_per_sm(threads: int, registers: int, shared_kib: int) -> dict[str, float]:
    """Blocks resident on an SM of an H200, and what each resource would allow by itself."""
    found = occupancy(H200, threads, registers, shared_kib * 1024)
    return {"answer": found.blocks_per_sm} | _allowed(threads, registers, shared_kib)


def blocks_lost(threads: int, registers: int) -> dict[str, float]:
    """Resident blocks that one register more for each thread costs."""
    before, after = (occupancy(H200, threads, count, 0) for count in (registers, registers + 1))
    return {
        "answer": before.blocks_per_sm - after.blocks_per_sm,
        "blocks_before": before.blocks_per_sm,
        "blocks_after": after.blocks_per_sm,
        "before": _registers_of_warp(registers),
        "after": _registers_of_warp(registers + 1),
    }


def most_registers(blocks: int, threads: int) -> dict[str, float]:
    """Most registers a thread with which so many blocks are resident."""
    warps = blocks * math.ceil(threads / WARP)
    per_quarter = math.ceil(warps / QUARTERS)
    per_warp = REGISTERS // QUARTERS // per_quarter // REGISTER_UNIT * REGISTER_UNIT
    answer = min(per_warp // WARP, MOST_REGISTERS)
    return {"answer": answer, "warps": warps, "per_quarter": per_quarter, "per_warp": per_warp}


def loads_a_thread(percent: float, width: int) -> dict[str, float]:
    """Loads in flight a thread that make up for fewer threads, by Little's law."""
    fewer, wider = 100 / percent, width / 4
    return {"answer": fewer / wider, "fewer": fewer, "wider": wider}


def spilled_bytes(bytes: int, loads: int, threads: int) -> int:
    """Megabytes that spills store and load, for millions of threads."""
    return bytes * (1 + loads) * threads


def _allowed(threads: int, registers: int, shared_kib: int) -> dict[str, float]:
    fits = occupancy(H200, threads, registers, shared_kib * 1024).fits
    return {f"by_{limit.split()[0]}": blocks for limit, blocks in fits.items()}


def _registers_of_warp(registers: int) -> int:
    return math.ceil(registers * WARP / REGISTER_UNIT) * REGISTER_UNIT
