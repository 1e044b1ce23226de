"""Instruction-level parallelism: chains on one scheduler, double buffers, and what stages cost.

Source of the latency of FFMA and FADD, 4 clocks: Jia and others, 2018 (Volta), and Huerta and others, 2025 (Turing and
Ampere). A scheduler of an H200 starts one instruction of a warp in a clock.
"""

from grader.analysis.devices import named
from grader.analysis.occupancy import occupancy

LATENCY = 4  # clocks from an FFMA or FADD to the next one that needs its result
KIB = 1024


def clocks(chains: int, length: int) -> int:
    """Clocks of `chains` chains of `length` dependent FFMA each, on one scheduler."""
    return length * max(LATENCY, chains)


def faster(accumulators: int) -> dict[str, float]:
    """How many times as fast a sum is with several accumulators as with one."""
    each = max(LATENCY / accumulators, 1)  # clocks an addition
    return {"answer": LATENCY / each, "clocks": each}


def buffered(tiles: int, load: int, multiply: int) -> dict[str, float]:
    """Microseconds of a loop in which the next tile is loaded while this one is multiplied."""
    longer = max(load, multiply)
    return {"answer": load + (tiles - 1) * longer + multiply, "rest": tiles - 1, "longer": longer}


def staging(threads: int, floats: int, way: str) -> dict[str, float]:
    """Registers a thread that hold a tile on its way to shared memory."""
    share = floats // threads
    return {"answer": 0 if "cp.async" in way else share, "share": share}


def blocks_with_stages(kib: int, stages: int) -> dict[str, float]:
    """Blocks whose stages fit into the shared memory of an SM of an H200."""
    device = named("H200")
    one, several = (
        occupancy(device, 128, 32, count * kib * KIB).fits["shared memory"] for count in (1, stages)
    )
    return {"answer": several, "one": one, "block": stages * kib + 1}
