"""Occupancy, limited by shared memory."""

from grader.analysis.devices import named
from grader.analysis.occupancy import occupancy


def blocks(threads: int, kib: int, board: str) -> dict[str, float]:
    """By CUDA's own calculator (cuda_occupancy.h, by way of grader.analysis.occupancy)."""
    found = occupancy(named(board.split()[0]), threads, 32, 1024 * kib)
    return {"answer": found.blocks_per_sm, "by": found.fits["shared memory"], "slots": found.fits["warps"]}


def most_kib(threads: int, kib: int, board: str) -> dict[str, float]:
    """Shared memory of an SM over one block more, less what CUDA reserves (CUDA C++ Programming Guide)."""
    spec = named(board.split()[0])
    more = occupancy(spec, threads, 32, 1024 * kib).fits["shared memory"] + 1
    total = spec.capability.shared_bytes / 1024
    return {"answer": total / more - 1, "total": total, "more": more}
