"""Bits of compressed weights.

Sources: Cover and Thomas, chapters 5 (Huffman) and 10 (rate and distortion); Han et al., 2016 (codebooks).
"""

import heapq
from math import log2


def huffman_mb(millions: int, p: str) -> dict[str, float | str]:
    """MB of Huffman-coded symbols."""
    chances = [float(part) for part in p.split(", ")]
    lengths = _lengths(chances)
    mean = sum(a * b for a, b in zip(chances, lengths, strict=True))
    return {
        "answer": millions * mean / 8,
        "lengths": ", ".join(map(str, lengths)),
        "mean": mean,
        "fixed": millions / 4,
    }


def error_factor(before: int, after: int) -> dict[str, float]:
    """4 for each bit: the error is step² / 12."""
    return {"answer": 4 ** (after - before), "more": after - before}


def outlier(bits: int, outlier: int) -> float:
    """Squared ratio of the steps."""
    return outlier**2


def sparse_bits(percent: int, bits: int, how: str) -> dict[str, float]:
    """Bits a weight for positions and values."""
    kept = 1 - percent / 100
    positions = 1.0 if "bitmap" in how else 16 * kept
    values = bits * kept
    bound = -kept * log2(kept) - (1 - kept) * log2(1 - kept)
    return {"answer": positions + values, "positions": positions, "values": values, "bound": bound}


def codebook_factor(weights: int, k: int) -> dict[str, float]:
    """32·n over n·log₂ k + 32·k (Han et al., 2016)."""
    index = int(log2(k))
    return {"answer": 32 * weights / (weights * index + 32 * k), "index": index}


def weighed_error(s1: int, s2: int, e1: float, e2: float) -> float:
    """Variance of the output's error for independent inputs."""
    return e1**2 * s1 + e2**2 * s2


def when_faster(gb: int, bandwidth: int, percent: int, decoder: int) -> dict[str, float]:
    """Milliseconds: the longer of reading and decoding."""
    before = 1e3 * gb / bandwidth
    read, decode = before * percent / 100, 1e3 * gb / decoder
    return {"answer": max(read, decode), "read": read, "decode": decode, "before": before}


def _lengths(chances: list[float]) -> list[int]:
    """Code lengths of Huffman's algorithm."""
    lengths = [0] * len(chances)
    heap = [(chance, [i]) for i, chance in enumerate(chances)]
    heapq.heapify(heap)
    while len(heap) > 1:
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        for i in first[1] + second[1]:
            lengths[i] += 1
        heapq.heappush(heap, (first[0] + second[0], first[1] + second[1]))
    return lengths
