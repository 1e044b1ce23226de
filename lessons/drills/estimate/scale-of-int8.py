"""A scale for INT8."""


def scale(most: float, **_: object) -> float:
    """S with r = S·q (Jacob et al., 2017, section 2.1)."""
    return most / 127


def stored(most: float, x: float) -> dict[str, float]:
    """The nearest integer."""
    exact = x * 127 / most
    return {"answer": round(exact), "exact": exact, "step": most / 127}


def error(most: float, **_: object) -> float:
    """Half of the distance of two values."""
    return most / 254
