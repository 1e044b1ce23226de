"""Bytes and time of a copy."""

FLOAT = 4  # bytes


def copied_bytes(rows: int, columns: int, bandwidth: int) -> float:
    """MB that are read and written."""
    return 2 * FLOAT * rows * columns / 1e6


def least_time(rows: int, columns: int, bandwidth: int) -> dict[str, float]:
    """Microseconds: bytes over bandwidth in GB/s (CUDA C++ Best Practices Guide, Effective Bandwidth Calculation)."""
    moved = copied_bytes(rows, columns, bandwidth)
    return {"answer": 1e3 * moved / bandwidth, "bytes": moved}
