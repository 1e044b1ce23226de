"""Two of four."""


def mb(rows: int, columns: int, **_: object) -> float:
    """Half of the values, with metadata of 2 bits each (Mishra et al., 2021, section 3)."""
    return rows * columns / 2 * 18 / 8 / 1e6


def saved(rows: int, columns: int, **_: object) -> dict[str, float]:
    """Two bytes a weight less that."""
    dense, sparse = 2 * rows * columns / 1e6, rows * columns / 2 * 18 / 8 / 1e6
    return {"answer": dense - sparse, "dense": dense, "sparse": sparse}


def speedup(other: int, **_: object) -> float:
    """Amdahl's law with a factor of 2 (Amdahl, 1967)."""
    return 1 / (other / 100 + (1 - other / 100) / 2)
