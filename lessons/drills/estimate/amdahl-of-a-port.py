"""How far a port can go."""


def speedup(percent: int, factor: int) -> dict[str, float]:
    """1/(1 − p + p/s) (Amdahl, 1967)."""
    p = percent / 100
    return {"answer": 1 / (1 - p + p / factor), "p": p}


def most(percent: int, **_: object) -> dict[str, float]:
    """The limit for s → ∞."""
    return {"answer": 1 / (1 - percent / 100), "p": percent / 100}


def share(percent: int, factor: int) -> dict[str, float]:
    """The serial part over the new time."""
    rest = 1 - percent / 100
    whole = rest + percent / 100 / factor
    return {"answer": 100 * rest / whole, "rest": rest, "whole": whole}
