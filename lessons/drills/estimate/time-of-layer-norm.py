"""A layer norm."""

from grader.analysis.devices import DeviceSpec, named


def least_time(tokens: int, width: int, board: str) -> dict[str, float]:
    """One read and one write (Memory-Limited Layers User's Guide, Normalization)."""
    mb = 2 * 2 * tokens * width / 1e6
    return {"answer": 1e12 * mb / _board(board).peak_dram, "mb": mb}


def fused_time(tokens: int, width: int, board: str) -> dict[str, float]:
    """Two inputs, and the sum and the norm as outputs, once each."""
    mb = 4 * 2 * tokens * width / 1e6
    return {"answer": 1e12 * mb / _board(board).peak_dram, "mb": mb}


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
