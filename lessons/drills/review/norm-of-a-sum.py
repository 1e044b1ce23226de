"""What drill `norm-of-a-sum` asks for."""


def element_written(x: int, residual: int, gamma: int) -> dict[str, float]:
    """y of an element of a row of equal elements as the kernel computes it, and as it should be."""
    added = x + residual
    return {"answer": added / x * gamma, "added": added, "true": gamma}
