"""Probes of megakernels: gaps, waves, residency, counters and pages. GB / (TB/s) is ms.

Source: Hazy Research, "Look Ma, No Bubbles!", and the repository HazyResearch/Megakernels for counters and pages; CUDA
Programming Guide, "Compute Capabilities", for what an SM of 9.0 holds.
"""

from math import ceil

REGISTERS, THREADS, SHARED, RESERVED, SMS = 65536, 2048, 228, 1, 132  # of an SM, as the probe says; KiB
REGISTER_UNIT = 256  # registers of a warp are allocated in multiples of it


def bandwidth_percent(gb: float, bandwidth: float, kernels: int, us: float) -> dict[str, float]:
    """The share of a token's time in which weights are loaded."""
    reading, idle = gb / bandwidth * 1e3, kernels * us
    return {"answer": 100 * reading / (reading + idle), "reading": reading, "idle": idle}


def two_operations_us(tiles: int, us: int, sms: int, how: str) -> dict[str, int | str]:
    """Waves of two kernels, or of all tiles in one list; tiles >= sms, so a tile of B never waits."""
    if how.startswith("as two"):
        waves, why = 2 * ceil(tiles / sms), "Each kernel's last wave leaves SMs idle."
    else:
        waves, why = ceil(2 * tiles / sms), "B's tiles fill A's last wave."
    return {"answer": waves * us, "waves": waves, "why": why}


def blocks_at_most(threads: int, registers: int, kib: int) -> dict[str, int]:
    """Blocks that are resident at a time: all have to be, if they wait for each other."""
    warps = threads // 32
    of_warp = ceil(registers * 32 / REGISTER_UNIT) * REGISTER_UNIT
    by_registers = REGISTERS // (warps * of_warp)
    by_threads, by_shared = THREADS // threads, SHARED // (kib + RESERVED)
    each = min(by_registers, by_threads, by_shared)
    return {
        "answer": each * SMS, "each": each,
        "by_registers": by_registers, "by_threads": by_threads, "by_shared": by_shared,
    }  # fmt: skip


def target(hidden: int, tile: int, parts: int, read: int) -> float:
    """Tiles of the parts that are read."""
    return read * hidden / parts / tile


def early_kib(kib: int, fixed: int, page: int, used: int, wanted: int) -> dict[str, int]:
    """Pages that are free while an instruction computes, as far as the next one wants them."""
    pages, busy, needed = (kib - fixed) // page, ceil(used / page), ceil(wanted / page)
    free = pages - busy
    return {
        "answer": min(free, needed) * page, "pages": pages, "busy": busy, "free": free, "needed": needed,
    }  # fmt: skip
