"""Occupancy, limited by registers."""

from grader.analysis.devices import named
from grader.analysis.occupancy import occupancy


def blocks(threads: int, registers: int) -> dict[str, float]:
    """By CUDA's own calculator (cuda_occupancy.h, by way of grader.analysis.occupancy)."""
    found = occupancy(named("H100"), threads, registers, 0)
    return {"answer": found.blocks_per_sm, "by": found.fits["registers"], "slots": found.fits["warps"]}


def percent(threads: int, registers: int) -> dict[str, float]:
    """Resident warps over the most there can be (CUDA C++ Best Practices Guide, Occupancy)."""
    found = occupancy(named("H100"), threads, registers, 0)
    return {"answer": 100 * found.fraction, "warps": found.warps_per_sm}
