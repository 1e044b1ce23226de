"""Tensor parallel traffic."""


def layer_mb(h: int, n: int, tokens: int, **_: object) -> float:
    """Two all-reduces a layer (Shoeybi et al., 2019, section 3), each 2(n − 1)/n · S in a ring."""
    return 2 * 2 * (n - 1) / n * 2 * tokens * h / 1e6


def pass_ms(layers: int, h: int, n: int, tokens: int, gbs: int) -> dict[str, float]:
    """Bytes of all layers over the link."""
    mb = layer_mb(h, n, tokens)
    return {"answer": layers * mb / gbs, "mb": mb}


def share(layers: int, h: int, n: int, tokens: int, percent: int, **_: object) -> float:
    """2 FLOP for each of 12h² parameters and token (Kaplan et al., 2020, section 2.1)."""
    return 2 * 12 * h**2 * tokens * layers / (n * 989e12 * percent / 100) * 1e3
