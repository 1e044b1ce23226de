"""Waves of blocks."""

import math

from grader.analysis.devices import named


def _tiles(m, n):
    return math.ceil(m / 256) * math.ceil(n / 128)


def tiles(m: int, n: int, **_: object) -> float:
    """Tiles that cover the output (Matrix Multiplication Background User's Guide, Tile Quantization)."""
    return int(_tiles(m, n))


def waves(m: int, n: int, board: str) -> dict[str, float]:
    """Tiles over SMs, rounded up (the same guide, Wave Quantization)."""
    count, sms = _tiles(m, n), named(board.split()[0]).sms
    return {"answer": math.ceil(count / sms), "tiles": count, "sms": sms}


def share(m: int, n: int, board: str) -> dict[str, float]:
    """Tiles over the slots of whole waves (the same guide, Wave Quantization)."""
    count, sms = _tiles(m, n), named(board.split()[0]).sms
    slots = math.ceil(count / sms) * sms
    return {"answer": 100 * count / slots, "tiles": count, "slots": slots}
