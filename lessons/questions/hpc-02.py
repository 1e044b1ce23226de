"""Numbers of hpc-02: sizes and costs of the memories of a GPU."""

from grader.analysis.devices import board
from grader.analysis.occupancy import REGISTERS, WARP, occupancy

MIB = 2**20

UNIFIED_KIB = {"7.5": 96, "8.0": 192, "8.6": 128, "8.9": 128, "9.0": 256, "10.0": 256, "12.0": 128}
"""L1 cache and shared memory of an SM together, of the CUDA C++ Programming Guide, "Compute Capabilities"."""


def register_file(device: str) -> dict[str, float]:
    """MiB of registers of a whole GPU: SMs · 65,536 · 4 bytes (Programming Guide, "Technical Specifications")."""
    gpu = board(device, "")
    return {"answer": gpu.sms * REGISTERS * 4 / MIB, "sms": gpu.sms, "l2": gpu.l2_bytes / MIB}


def load_clocks(l1: int, l2: int, dram: int, hits: int, l2_hits: int) -> dict[str, float]:
    """Clocks of an average load: each level's clocks times the share of loads that it serves; hits in percent."""
    misses, l2_misses = 100 - hits, 100 - l2_hits
    from_dram = misses * l2_misses / 10_000 * dram
    clocks = hits / 100 * l1 + misses * l2_hits / 10_000 * l2 + from_dram
    return {
        "answer": clocks,
        "misses": misses,
        "l2_misses": l2_misses,
        "dram_share": 100 * from_dram / clocks,
    }


def constant_turns(step: int, group: int) -> int:
    """Different addresses that the lanes i read at i · step / group.

    Programming Guide, "Device Memory Accesses": a request to constant memory is split into as many as it has
    different addresses.
    """
    return len({lane * step // group for lane in range(WARP)})


def spill_footprint(threads: int, registers: int, spilled: int, device: str) -> dict[str, float]:
    """KiB of local memory of the threads that are resident on one SM, by the occupancy of the kernel."""
    gpu = board(device, "")
    resident = occupancy(gpu, threads, registers, 0).blocks_per_sm * threads
    return {
        "answer": resident * spilled / 1024,
        "resident": resident,
        "l1": UNIFIED_KIB[gpu.capability.name],
    }
