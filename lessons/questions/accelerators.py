"""Probes of accelerators: what a systolic array makes of its cells, and of its memory."""

from grader.analysis.devices import board

CHOICES = {
    "a fixed vision model, quantised to INT8, at 30 frames a second in a camera of 5 W": (
        "a neural accelerator",
        "The model is fixed, its operators are common, and little power is available",
    ),
    "training a new kind of network, with your own operators": (
        "a GPU",
        "It needs high throughput for matrix products, and kernels that do not exist yet",
    ),
    "parsing requests and calling small models, one at a time": (
        "a CPU",
        "The work is small and full of branches, and its latency matters",
    ),
    "simulating particles with forces that change from month to month": (
        "a GPU",
        "There is much parallel arithmetic, and its code has to be changed often",
    ),
}


def array_peak(side: int, megahertz: int) -> float:
    """TOPS of an array of side × side multiply-add units; the first TPU's is 256 at 700 MHz (Jouppi et al., 2017)."""
    return 2 * side**2 * megahertz / 1e6


def uses_of_a_read(rows: int, columns: int) -> int:
    """Cells of a row that an activation passes in a weight-stationary array (Jouppi et al., 2017)."""
    return columns


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


def lanes_share(device: str) -> dict[str, float]:
    """Per cent of the Tensor Cores' peak that FP32 lanes have, of the datasheets in devices.toml."""
    gpu = board(device, "")
    return {
        "answer": 100 * gpu.peak_flop / gpu.peak_tensor,
        "lanes": gpu.peak_flop / 1e12,
        "tensor": gpu.peak_tensor / 1e12,
    }
