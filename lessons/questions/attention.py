"""Attention by hand. Sources: Vaswani et al., 2017; Milakov and Gimelshein, 2018 (online softmax)."""

from math import sqrt


def tiny_output(v: int, ratio: int) -> float:
    """Two weights, 1 : ratio."""
    return v * ratio / (1 + ratio)


def deviation(sigma: float, d: int) -> float:
    """Of a sum of d products of independent components."""
    return sqrt(d) * sigma**2


def masked_weight(n: int, i: int) -> dict[str, float]:
    """Per cent of equal weights beyond the diagonal."""
    return {"answer": 100 * (n - i) / n, "later": n - i}


def score_mib(heads: int, n: int, bytes: int) -> float:
    """MiB of n² scores a head."""
    return heads * n * n * bytes / 2**20


def causal_tiles(n: int, tile: int) -> dict[str, float]:
    """Tiles on and below the diagonal."""
    side = n // tile
    return {"answer": side * (side + 1) // 2, "side": side, "all": side * side}


def rescaled_sum(old: int, l: int, new: int) -> dict[str, float]:  # noqa: E741
    """l·exp(m_old − m_new) + exp(s − m_new)."""
    top = max(old, new)
    return {"answer": l * old / top + new / top, "top": top}


def merged(ma: int, la: int, oa: int, mb: int, lb: int, ob: int) -> dict[str, float]:
    """Partial softmaxes, weighed by exp(m)·l."""
    wa, wb = ma * la, mb * lb
    return {"answer": (wa * oa + wb * ob) / (wa + wb), "wa": wa, "wb": wb, "sum": wa + wb}
