"""Shared memory of a pipeline."""

from grader.analysis.devices import named


def stage_kib(bm: int, bn: int, bk: int) -> float:
    """Two tiles of halves (CUTLASS, Efficient GEMM in CUDA, pipelining)."""
    return 2 * (bm + bn) * bk / 1024


def stages(bm: int, bn: int, bk: int) -> dict[str, float]:
    """Most shared memory of a block of compute capability 9.0 (CUDA C++ Programming Guide), over a stage."""
    kib = stage_kib(bm, bn, bk)
    return {"answer": named("H100").capability.shared_block_bytes // (1024 * kib), "kib": kib}
