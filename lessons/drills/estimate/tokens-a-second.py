"""Decoding, one sequence."""


def tokens(billion: int, gpus: int, bytes: int) -> dict[str, float]:
    """Every weight is read once a token (Pope et al., 2022)."""
    gb, ms = billion * bytes, billion * bytes / (gpus * 3.35)
    return {"answer": 1e3 / ms, "gb": gb, "ms": ms}


def gflop(billion: int, **_: object) -> float:
    """2N FLOP a token (Kaplan et al., 2020, section 2.1)."""
    return 2 * billion
