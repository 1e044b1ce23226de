"""Attention that writes its scores."""


def gigaflop(heads: int, d: int, s: int) -> float:
    """4·s²·d a head: two products of s × s × d (Dao et al., 2022, section 3)."""
    return 4 * s**2 * d * heads / 1e9


def scores(heads: int, s: int, **_: object) -> float:
    """MB of s² halves a head."""
    return 2 * heads * s**2 / 1e6


def ratio(d: int, s: int, **_: object) -> float:
    """s² over four matrices of s × d."""
    return s / (4 * d)
