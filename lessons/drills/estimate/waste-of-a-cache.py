"""Waste of a KV cache."""


def reserved(mean: int, most: int, **_: object) -> float:
    """What a reservation for the longest leaves unused (Kwon et al., 2023, section 3)."""
    return 100 * (1 - mean / most)


def paged(block: int, **_: object) -> float:
    """0 to block − 1 free places, equally likely (Kwon et al., 2023)."""
    return (block - 1) / 2


def share(mean: int, block: int) -> dict[str, float]:
    """Waste over what is taken."""
    waste = (block - 1) / 2
    return {"answer": 100 * waste / (mean + waste), "waste": waste}
