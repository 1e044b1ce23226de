"""Experts of a token."""


def total(layers: int, experts: int, million: int, dense: int, **_: object) -> float:
    """All experts of all layers (Jiang et al., 2024)."""
    return layers * experts * million / 1e3 + dense


def active(layers: int, million: int, k: int, dense: int, **_: object) -> float:
    """Those of a token (Jiang et al., 2024)."""
    return layers * k * million / 1e3 + dense


def ms(layers: int, million: int, k: int, dense: int, **_: object) -> dict[str, float]:
    """Bytes of the active weights over the bandwidth (Pope et al., 2022)."""
    gb = layers * k * million / 1e3 + dense
    return {"answer": gb / 3.35, "gb": gb}
