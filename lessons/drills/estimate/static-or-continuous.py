"""Batches that wait for the longest."""


def _tokens(batch, long, short):
    return long + (batch - 1) * short


def static(batch: int, long: int, short: int, step: int) -> dict[str, float]:
    """All wait for the longest (Yu et al., 2022, section 3)."""
    count = _tokens(batch, long, short)
    return {"answer": 1e3 * count / (long * step), "tokens": count}


def continuous(batch: int, step: int, **_: object) -> float:
    """Scheduling by the iteration: no place is empty (Yu et al., 2022)."""
    return 1e3 * batch / step


def gain(batch: int, long: int, short: int, **_: object) -> dict[str, float]:
    """Places over tokens."""
    count = _tokens(batch, long, short)
    return {"answer": batch * long / count, "tokens": count}
