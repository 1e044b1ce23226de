"""Roofs of a GPU: ridge points, what they allow, and the tile that passes the ridge.

Source of the model: Williams, Waterman and Patterson, Roofline, CACM 2009. Peaks and bandwidths are those of the
datasheets in devices.toml.
"""

from grader.analysis.devices import board

TERA = 1e12


def ridge_point(device: str, unit: str) -> dict[str, float]:
    """Peak over bandwidth, FLOP a byte."""
    spec = board(device, "")
    peak = spec.peak_tensor if "Tensor" in unit else spec.peak_flop
    return {"answer": peak / spec.peak_dram, "peak": peak / TERA, "bandwidth": spec.peak_dram / TERA}


def attainable(peak_tflop: float, bandwidth_tb: float, flop: int, bytes: int) -> dict[str, float]:
    """min(peak, intensity × bandwidth), TFLOP/s."""
    slope = flop / bytes * bandwidth_tb
    return {"answer": min(peak_tflop, slope), "slope": slope}


def smallest_tile(device: str) -> dict[str, float]:
    """The smallest power of two T with T / 4 at or past the ridge point of FP32.

    A step of k takes T floats of A and T of B, 8·T bytes, for T² multiply-adds, 2·T² FLOP.
    """
    spec = board(device, "")
    ridge = spec.peak_flop / spec.peak_dram
    tile = 1
    while tile / 4 < ridge:
        tile *= 2
    return {"answer": tile, "ridge": ridge, "least": 4 * ridge}
