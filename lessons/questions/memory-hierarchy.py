"""Probes of memory-hierarchy: sizes and costs of the memories of a GPU."""

from grader.analysis.access import global_access
from grader.analysis.devices import board
from grader.analysis.occupancy import REGISTERS, WARP

FLOAT = 4  # bytes
MIB = 2**20
H100_CLOCK = 1.9  # GHz, as the probe says

KNOWN, UNKNOWN = (
    "here all indices are known to the compiler",
    "here an index is known only when the kernel runs",
)

USES = {
    "`a[i]` in a loop over i from 0 to 7 that is fully unrolled": ("in registers", KNOWN),
    "`a[key % 8]`, where key was loaded from memory": ("in local memory", UNKNOWN),
    "`a[0] + a[7]`, and no other elements": ("in registers", KNOWN),
    "`a[i]` in a loop over i from 0 to n, with n an argument of the kernel": ("in local memory", UNKNOWN),
}
"""CUDA C++ Programming Guide, "Local Memory": arrays that are not indexed with constant quantities are put there."""


def register_file(sms: int) -> float:
    """MiB of registers of a whole GPU: SMs · 65,536 · 4 bytes (Programming Guide, "Technical Specifications")."""
    return sms * REGISTERS * 4 / MIB


def array_home(use: str) -> dict[str, str]:
    """Where a thread's array of 8 floats is kept, and why."""
    home, reason = USES[use]
    return {"answer": home, "reason": reason}


def spill_sectors(bytes: int) -> int:
    """Sectors of a warp's reload of one spilled variable.

    Programming Guide, "Local Memory": consecutive 32-bit words are accessed by consecutive thread numbers, so a
    variable of several words takes that many coalesced rows of 32.
    """
    words = bytes // FLOAT
    rows = [[FLOAT * (WARP * word + lane) for lane in range(WARP)] for word in range(words)]
    return sum(global_access(row, FLOAT).sectors for row in rows)


def spill_footprint(threads: int, blocks: int, spilled: int) -> dict[str, float]:
    """KiB of local memory of the threads that are resident on one SM."""
    resident = threads * blocks
    return {"answer": resident * spilled / 1024, "resident": resident}


def tile_reuse(rows: int, columns: int) -> dict[str, float]:
    """Floats that a block uses for a step of k over those that are loaded (Programming Guide, "Shared Memory")."""
    used, loaded = 2 * rows * columns, rows + columns
    return {"answer": used / loaded, "used": used, "loaded": loaded}


def halo_loads(threads: int, radius: int) -> dict[str, float]:
    """Inputs of a block's tile with its halo."""
    return {"answer": threads + 2 * radius, "without": threads * (2 * radius + 1)}


def constant_turns(index: str) -> int:
    """Different addresses that the lanes i read at an index such as 2 · i / 3, rounded down.

    Programming Guide, "Device Memory Accesses": a request to constant memory is split into as many as it has
    different addresses.
    """
    above, group = index.split(" / ")
    step = int(above.removesuffix("i").removesuffix(" · ") or 1)
    return len({lane * step // int(group) for lane in range(WARP)})


def in_flight(ns: int, bandwidth: int) -> dict[str, float]:
    """KB on the way: latency · bandwidth (Little's law; ns · GB/s are bytes)."""
    in_bytes = ns * bandwidth
    return {"answer": in_bytes / 1e3, "threads": in_bytes / FLOAT}


def chase(nodes: int) -> dict[str, float]:
    """µs of so many loads from DRAM, one after the other; the latency is devices.toml's, of Luo et al., 2024."""
    latency = board("NVIDIA H100", "sm_90").dram_latency
    return {"answer": nodes * latency / H100_CLOCK / 1e3, "latency": latency}
