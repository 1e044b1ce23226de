"""Speculative decoding."""


def _expected(gamma, percent):
    """(1 − p^(γ + 1))/(1 − p) (Leviathan et al., 2022, equation 1)."""
    p = percent / 100
    return (1 - p ** (gamma + 1)) / (1 - p)


def tokens(gamma: int, percent: int, **_: object) -> float:
    """(1 − p^(γ + 1))/(1 − p) (Leviathan et al., 2022, equation 1)."""
    return float(_expected(gamma, percent))


def speedup(gamma: int, percent: int, cost: float) -> dict[str, float]:
    """Tokens of a round over its cost, γc + 1 (Leviathan et al., 2022, theorem 3.8)."""
    found, price = _expected(gamma, percent), 1 + gamma * cost
    return {"answer": found / price, "tokens": found, "price": price}
