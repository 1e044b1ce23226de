"""The bubble of a pipeline."""


def bubble(p: int, m: int) -> dict[str, float]:
    """(p − 1)/(m + p − 1) (Huang et al., 2018, section 2.2)."""
    return {"answer": 100 * (p - 1) / (m + p - 1), "top": p - 1, "bottom": m + p - 1}


def least_m(p: int, **_: object) -> float:
    """The same, solved for m."""
    return 9 * (p - 1)


def interleaved(p: int, m: int, v: int) -> float:
    """Idle time (p − 1)/v, in units of a microbatch, beside m of work (Narayanan et al., 2021, section 2.2)."""
    idle = (p - 1) / v
    return 100 * idle / (m + idle)
