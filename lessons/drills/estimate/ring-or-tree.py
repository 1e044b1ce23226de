"""A ring or a tree."""

import math


def _times(n, kb, alpha, gbs):
    """Microseconds of the ring and of the tree."""
    ring = 2 * (n - 1) * (alpha + kb / n / gbs)
    return ring, 2 * math.log2(n) * (alpha + kb / gbs)


def ring_us(n: int, kb: int, alpha: int, gbs: int) -> dict[str, float]:
    """2(n − 1)(α + S/(n·B)) (Patarasuk and Yuan, 2009)."""
    return {"answer": _times(n, kb, alpha, gbs)[0], "hops": n - 1, "piece": kb / n}


def tree_us(n: int, kb: int, alpha: int, gbs: int) -> dict[str, float]:
    """2·log₂(n)·(α + S/B): a reduction and a broadcast (Thakur et al., 2005)."""
    return {"answer": _times(n, kb, alpha, gbs)[1], "depth": math.log2(n)}


def better(n: int, kb: int, alpha: int, gbs: int) -> dict[str, object]:
    """The shorter of both."""
    ring, tree = _times(n, kb, alpha, gbs)
    return {"answer": "the ring" if ring < tree else "the tree", "ring": ring, "tree": tree}
