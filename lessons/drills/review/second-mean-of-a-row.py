"""What drill `second-mean-of-a-row` asks for."""


def element_written(deviation: int, d: int, g: int, mean_gn: int) -> dict[str, float]:
    """dx of an element as the kernel computes it, and as it should be, where the mean of g is 0."""
    found = (g - d * mean_gn) / deviation
    return {"answer": found, "n": d / deviation, "true": (g - d / deviation * mean_gn) / deviation}
