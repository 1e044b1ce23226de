"""What drill `moments-of-lanes` asks for."""

LANES = 32


def _middle(means: list[float]) -> float:
    """What five steps of the kernel's shuffles make of the lanes' means; lanes without elements have 0."""
    distance = LANES // 2
    while distance:
        means = [(mean + means[lane ^ distance]) / 2 for lane, mean in enumerate(means)]
        distance //= 2
    return means[0]


def mean_of_row(n: int, last: float) -> dict[str, float]:
    """The mean of n elements of which the last alone is not 0, as the kernel merges it."""
    lane = (n - 1) % LANES
    of_lane = len(range(lane, n, LANES))
    means = [last / of_lane if each == lane else 0.0 for each in range(LANES)]
    return {"answer": _middle(means), "of_lane": of_lane, "own": last / of_lane, "true": last / n}
