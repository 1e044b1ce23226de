"""How large a tile has to be."""

from grader.analysis.devices import DeviceSpec, named


def intensity(t: int, **_: object) -> float:
    """2t² FLOP for 2t floats in each step of k (CUTLASS, Efficient GEMM in CUDA, threadblock tile)."""
    return t / 4


def attainable(t: int, board: str) -> dict[str, float]:
    """The lower of peak and intensity times bandwidth (Williams et al., 2009)."""
    spec, have = _board(board), t / 4
    slope, peak = have * spec.peak_dram / 1e12, spec.peak_flop / 1e12
    return {"answer": min(slope, peak), "have": have, "slope": slope, "peak": peak}


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
