"""A matrix times a vector."""


def intensity(width: int, **_: object) -> float:
    """Two FLOP for each number of the matrix, which is read once (Williams et al., 2009)."""
    return 2 / width


def least_time(n: int, width: int, bandwidth: int) -> dict[str, float]:
    """Microseconds: bytes of the matrix over the bandwidth (roofline, Williams et al., 2009)."""
    mb = width * n * n / 1e6
    return {"answer": 1e3 * mb / bandwidth, "mb": mb}
