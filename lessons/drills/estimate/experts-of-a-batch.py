"""Experts that a batch touches."""


def _touched(experts, k, batch):
    return experts * (1 - (1 - k / experts) ** batch)


def touched(experts: int, k: int, batch: int) -> float:
    """A token leaves an expert out with probability 1 − k/E, independently (Jiang et al., 2024, top-k routing)."""
    return float(_touched(experts, k, batch))


def tokens_each(experts: int, k: int, batch: int) -> dict[str, float]:
    """Choices over experts that are touched."""
    found = _touched(experts, k, batch)
    return {"answer": k * batch / found, "touched": found}
