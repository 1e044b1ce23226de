"""FLOP utilisation of a run."""


def mfu(gpus: int, billion: int, mega: int, seconds: int) -> float:
    """6ND over time and peak (Chowdhery et al., 2022, appendix B)."""
    return 100 * 6 * billion * 1e9 * mega * 1e6 / seconds / (gpus * 989e12)


def hfu(gpus: int, billion: int, mega: int, seconds: int) -> float:
    """Recomputed FLOP count as well (Korthikanti et al., 2022, section 6): 8ND."""
    return 100 * 8 * billion * 1e9 * mega * 1e6 / seconds / (gpus * 989e12)
