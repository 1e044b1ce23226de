"""How often to save."""

import math


def mtbf(gpus: int, years: int, **_: object) -> float:
    """Failures of independent parts add up."""
    return years * 8760 / gpus


def interval(gpus: int, years: int, save: int) -> dict[str, float]:
    """√(2·δ·M) (Young, 1974)."""
    hours = years * 8760 / gpus
    return {"answer": math.sqrt(2 * save * hours * 3600) / 60, "hours": hours}


def lost(gpus: int, years: int, save: int) -> float:
    """δ/τ + τ/(2M) at τ = √(2δM) (Young, 1974; Daly, 2006)."""
    return 100 * math.sqrt(2 * save / (years * 8760 / gpus * 3600))
