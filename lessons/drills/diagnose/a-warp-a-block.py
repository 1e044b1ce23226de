"""Bytes under way."""

from grader.analysis import devices
from grader.analysis.occupancy import occupancy

FLOATS = 2  # that an element takes
KIB = 1024


def under_way() -> dict[str, float]:
    """KiB that an SM has asked for: resident threads times the bytes of each (CUDA C++ Programming Guide, "Technical
    Specifications per Compute Capability"); and with blocks of 256 threads, four elements each."""
    return {"answer": _kib(32, 1), "mended": _kib(256, 4)}


def _kib(block_threads: int, elements: int) -> float:
    blocks = occupancy(devices.named("H200").capability, block_threads, 32, 0).blocks_per_sm
    return blocks * block_threads * elements * FLOATS * 4 / KIB
