"""The backward pass of a layer norm."""

from grader.analysis.devices import DeviceSpec, named


def least_time(tokens: int, width: int, board: str) -> dict[str, float]:
    """Two reads and one write (Memory-Limited Layers User's Guide, Normalization)."""
    mb = _megabytes(3, tokens, width)
    return {"answer": 1e12 * mb / _board(board).peak_dram, "mb": mb}


def two_kernels(tokens: int, width: int, board: str) -> dict[str, float]:
    """Two reads more."""
    mb = _megabytes(5, tokens, width)
    return {"answer": 1e12 * mb / _board(board).peak_dram, "mb": mb}


def partial_sums(tokens: int, width: int, blocks: int, **_: object) -> dict[str, float]:
    """Two FP32 numbers for each column of each block, written and read."""
    return {"answer": 2 * 2 * 4 * blocks * width / 1e6, "mb": _megabytes(3, tokens, width)}


def _megabytes(matrices: int, tokens: int, width: int) -> float:
    """Of so many matrices in BF16."""
    return matrices * 2 * tokens * width / 1e6


def _board(board: str) -> DeviceSpec:
    """The board whose figures the text gives; those computed with are the datasheets'."""
    return named(board.partition(" (")[0])
