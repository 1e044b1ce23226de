"""Probes of hpc-06: what a systolic array makes of its cells, and of its memory."""

CHOICES = {
    "a fixed vision model, quantised to INT8, at 30 frames a second in a camera of 5 W": (
        "a neural accelerator",
        "The model is fixed, its operators are common and power is short",
    ),
    "training a new kind of network, with operators of one's own": (
        "a GPU",
        "It takes throughput for products, and kernels that nobody has written yet",
    ),
    "parsing requests and calling small models, one at a time": (
        "a CPU",
        "Branches, small work and latency are what its cores are built for",
    ),
    "simulating particles with forces that change from month to month": (
        "a GPU",
        "There is much parallel arithmetic, and it has to be programmed anew",
    ),
}


def array_peak(side: int, megahertz: int) -> float:
    """TOPS of an array of side × side multiply-add units; the first TPU's is 256 at 700 MHz (Jouppi et al., 2017)."""
    return 2 * side**2 * megahertz / 1e6


def uses_of_a_read(side: int) -> int:
    """Cells of a row that an activation passes in a weight-stationary array (Jouppi et al., 2017)."""
    return side


def best_chip(work: str) -> dict[str, str]:
    """Which kind of chip suits the work, and why."""
    chip, reason = CHOICES[work]
    return {"answer": chip, "reason": reason}


def array_use(side: int, vectors: int, filled: int) -> dict[str, float]:
    """Per cent of an array's multiply-adds that are done while `vectors` inputs pass through it.

    An input needs side − 1 clocks to reach the last row, and its sums side − 1 more to the last column (SCALE-Sim,
    weight stationary, without the loading of weights).
    """
    clocks = vectors + 2 * side - 2
    return {"answer": filled * vectors / clocks, "clocks": clocks}


def attained_tops(tops: int, bandwidth: int, batch: int) -> dict[str, float]:
    """The roofline (Williams et al., 2009): peak, or operations a byte of weights times bytes a second."""
    by_memory = 2 * batch * bandwidth / 1e3
    return {"answer": min(tops, by_memory), "by_memory": by_memory}
