"""Training state, sharded."""


def plain(billion: int, **_: object) -> float:
    """2 + 2 + 12 bytes a parameter (Rajbhandari et al., 2019, section 3.1)."""
    return 16 * billion


def stage_one(billion: int, n: int) -> float:
    """4Ψ + KΨ/N (the same, figure 1)."""
    return (4 + 12 / n) * billion


def stage_three(billion: int, n: int) -> float:
    """16Ψ/N (the same, figure 1)."""
    return 16 * billion / n
