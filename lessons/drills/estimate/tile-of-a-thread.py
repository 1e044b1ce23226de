"""Registers for a tile."""

from grader.analysis.devices import named
from grader.analysis.occupancy import occupancy


def accumulators(tm: int, tn: int) -> float:
    """A register an element (CUTLASS, Efficient GEMM in CUDA, thread tile)."""
    return tm * tn


def fma_a_float(tm: int, tn: int) -> float:
    """TM·TN multiply-adds for TM + TN floats."""
    return tm * tn / (tm + tn)


def resident(tm: int, tn: int, other: int) -> dict[str, float]:
    """By CUDA's own calculator (cuda_occupancy.h, by way of grader.analysis.occupancy)."""
    used = tm * tn + tm + tn + other
    return {"answer": occupancy(named("H100"), 256, used, 0).warps_per_sm, "used": used}
