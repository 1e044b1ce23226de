"""Activations, stored or recomputed."""


def layer_gb(s: int, h: int, a: int, b: int, **_: object) -> dict[str, float]:
    """sbh(34 + 5as/h) (Korthikanti et al., 2022, equation 1)."""
    return {"answer": s * b * h * (34 + 5 * a * s / h) / 1e9, "scores": 5 * a * s / h}


def selective_gb(s: int, h: int, b: int, layers: int, **_: object) -> float:
    """34sbh a layer (Korthikanti et al., 2022, section 5)."""
    return 34 * s * b * h * layers / 1e9


def full_gb(s: int, h: int, b: int, layers: int, **_: object) -> float:
    """2sbh a layer (Korthikanti et al., 2022, section 5)."""
    return 2 * s * b * h * layers / 1e9
