"""What bounds a square GEMM."""

from grader.analysis.devices import DeviceSpec, named


def intensity(n: int, **_: object) -> float:
    """2n³ FLOP over 2·3n² bytes (Matrix Multiplication Background User's Guide)."""
    return n / 3


def limit(n: int, board: str) -> dict[str, object]:
    """Intensity against the ridge point, peak over bandwidth (Williams et al., 2009)."""
    spec = _board(board)
    have, ridge = n / 3, spec.peak_tensor / spec.peak_dram
    return {"answer": "arithmetic" if have > ridge else "memory bandwidth", "have": have, "ridge": ridge}


def least_time(n: int, board: str) -> dict[str, float]:
    """Microseconds: the longer of FLOP over peak and bytes over bandwidth (Williams et al., 2009)."""
    spec = _board(board)
    work, move = 1e6 * 2 * n**3 / spec.peak_tensor, 1e6 * 6 * n**2 / spec.peak_dram
    return {"answer": max(work, move), "work": work, "move": move}


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
