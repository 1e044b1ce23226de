"""Numbers of hpc-06: what a systolic array makes of its cells."""


def array_use(side: int, vectors: int, filled: int) -> dict[str, float]:
    """Per cent of an array's multiply-adds that are done while `vectors` inputs pass through it.

    An input needs side − 1 clocks to reach the last row, and its sums side − 1 more to the last column (SCALE-Sim,
    weight stationary, without the loading of weights).
    """
    clocks = vectors + 2 * side - 2
    return {"answer": filled * vectors / clocks, "clocks": clocks}
