"""A sparse matrix times a vector."""


def _us(mega, rows, bandwidth):
    """8 bytes a nonzero; a pointer, an element of x and one of y for each row of a square matrix."""
    return (8 * mega + 12 * rows) / bandwidth * 1e3


def least_us(mega: int, rows: int, bandwidth: int) -> float:
    """Bytes of CSR and vectors over bandwidth (Bell and Garland, 2008)."""
    return float(_us(mega, rows, bandwidth))


def gflops(mega: int, rows: int, bandwidth: int) -> dict[str, float]:
    """Two FLOP a nonzero."""
    us = _us(mega, rows, bandwidth)
    return {"answer": 2e3 * mega / us, "us": us}
