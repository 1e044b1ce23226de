"""FLOP and bytes of a GEMM."""


def gigaflop(m: int, n: int, k: int) -> float:
    """2·M·N·K (Matrix Multiplication Background User's Guide)."""
    return 2 * m * n * k / 1e9


def megabytes(m: int, n: int, k: int) -> float:
    """Both factors read once, the product written once."""
    return 4 * (m * k + k * n + m * n) / 1e6


def intensity(m: int, n: int, k: int) -> dict[str, float]:
    """FLOP over bytes (Williams et al., 2009)."""
    flop, mb = 2 * m * n * k / 1e9, 4 * (m * k + k * n + m * n) / 1e6
    return {"answer": 1e3 * flop / mb, "flop": flop, "mb": mb}
