"""From which batch on decoding computes."""

from grader.analysis.devices import DeviceSpec, named


def _critical(bits, board):
    spec = _board(board)
    return spec.peak_tensor / spec.peak_dram * bits / 8 / 2


def batch(bits: int, board: str) -> dict[str, float]:
    """2B FLOP a weight over its bytes equals the ridge (Pope et al., 2022; Williams et al., 2009)."""
    spec = _board(board)
    return {"answer": _critical(bits, board), "bytes": bits / 8, "ridge": spec.peak_tensor / spec.peak_dram}


def share(bits: int, board: str, b: int) -> dict[str, float]:
    """Below the ridge, throughput is proportional to the batch."""
    critical = _critical(bits, board)
    return {"answer": 100 * min(1, b / critical), "critical": critical}


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
