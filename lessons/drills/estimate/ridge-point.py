"""The ridge of a roofline."""

from grader.analysis.devices import DeviceSpec, named


def ridge(board: str, **_: object) -> float:
    """Peak FLOP/s over peak bytes/s (Williams et al., 2009)."""
    spec = _board(board)
    return spec.peak_flop / spec.peak_dram


def attainable(board: str, flop: int) -> dict[str, float]:
    """The lower of peak and intensity times bandwidth (Williams et al., 2009)."""
    spec, have = _board(board), flop / 4
    slope, peak = have * spec.peak_dram / 1e12, spec.peak_flop / 1e12
    return {"answer": min(slope, peak), "have": have, "slope": slope, "peak": peak}


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
