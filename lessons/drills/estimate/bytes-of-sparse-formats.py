"""Bytes of sparse formats."""


def csr_mb(rows: int, mean: int, **_: object) -> float:
    """A value and a column for each nonzero, a pointer for each row and one more (Bell and Garland, 2008)."""
    return (8 * rows * mean + 4 * (rows + 1)) / 1e6


def ell_mb(rows: int, most: int, **_: object) -> float:
    """Every row padded to the longest (Bell and Garland, 2008)."""
    return 8 * rows * most / 1e6


def coo_mb(rows: int, mean: int, **_: object) -> float:
    """A value, a row and a column for each nonzero (Bell and Garland, 2008)."""
    return 12 * rows * mean / 1e6
