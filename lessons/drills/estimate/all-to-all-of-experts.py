"""Tokens to their experts."""


def sent_mb(n: int, tokens: int, width: int, k: int, **_: object) -> float:
    """k copies of each token, of which 1/n stay (Lepikhin et al., 2020)."""
    return k * tokens * 2 * width * (n - 1) / n / 1e6


def layer_ms(n: int, tokens: int, width: int, k: int, gbs: int) -> dict[str, float]:
    """Two all-to-alls (Lepikhin et al., 2020)."""
    mb = sent_mb(n, tokens, width, k)
    return {"answer": 2 * mb / gbs, "mb": mb}


def fp8_ms(n: int, tokens: int, width: int, k: int, gbs: int) -> float:
    """One and a half of what one takes in BF16."""
    return float(1.5 * sent_mb(n, tokens, width, k) / gbs)
