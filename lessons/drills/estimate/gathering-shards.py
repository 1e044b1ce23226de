"""Gathering shards of weights."""


def gather_ms(n: int, billion: int, gbs: int) -> dict[str, float]:
    """(n − 1)/n · S/B of a ring (Thakur et al., 2005)."""
    gb = 2 * billion
    return {"answer": 1e3 * (n - 1) / n * gb / gbs, "gb": gb}


def step_ms(n: int, billion: int, gbs: int) -> float:
    """Two all-gathers and a reduce-scatter: 3S in all (Rajbhandari et al., 2019, section 7)."""
    return 3e3 * (n - 1) / n * 2 * billion / gbs


def buffer(n: int, billion: int, **_: object) -> dict[str, float]:
    """An equal part for each (Rajbhandari et al., 2019)."""
    return {"answer": 2 * billion / n, "gb": 2 * billion}
