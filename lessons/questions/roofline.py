"""Roofs of a GPU: ridge points, what they allow, and the tile that passes the ridge.

Source of the model: Williams, Waterman and Patterson, Roofline, CACM 2009. Rates of an H200 are those of devices.toml.
"""

from grader.analysis.devices import named

TERA = 1e12
NEAR = 90  # per cent of a roof from which on it is what limits
H200 = named("H200")


def attainable(peak_tflop: float, bandwidth_tb: float, flop: int, bytes: int) -> dict[str, float]:
    """min(peak, intensity × bandwidth), TFLOP/s."""
    slope = flop / bytes * bandwidth_tb
    return {"answer": min(peak_tflop, slope), "slope": slope}


def ridge_point(peak_tflop: float, bandwidth_gb: float) -> float:
    """Peak over bandwidth, FLOP a byte."""
    return peak_tflop * 1e3 / bandwidth_gb


def limiter(intensity: float, share: int) -> dict[str, str]:
    """The roof over a kernel on an H200, if the kernel touches it."""
    ridge = H200.peak_flop / H200.peak_dram
    roof = "DRAM's bandwidth" if intensity < ridge else "the FP32 units"
    if share >= NEAR:
        return {"answer": roof, "roof": roof, "so": "this limit is nearly reached"}
    so = "something else limits it: latency, L2, shared memory, issue slots or too little work"
    return {"answer": "something that the model does not show", "roof": roof, "so": so}


def smallest_tile(ridge: float) -> dict[str, float]:
    """The smallest power of two T with T / 4 at or past the ridge point of FP32.

    A step of k takes T floats of A and T of B, 8·T bytes, for T² multiply-adds, 2·T² FLOP.
    """
    tile = 1
    while tile / 4 < ridge:
        tile *= 2
    return {"answer": tile, "least": 4 * ridge}


def halves(bytes: int, rows: int, columns: int) -> float:
    """FLOP a byte of a block of rows × columns outputs with operands of that many bytes."""
    return 2 * rows * columns / (bytes * (rows + columns))


def two_roofs(intensity: float, factor: int) -> dict[str, float]:
    """TFLOP/s under the roofs of DRAM, L2 and arithmetic of an H200."""
    dram = intensity * H200.peak_dram / TERA
    l2 = intensity / factor * H200.l2_rate / TERA
    return {"answer": min(H200.peak_flop / TERA, dram, l2), "dram": dram, "l2": l2}
