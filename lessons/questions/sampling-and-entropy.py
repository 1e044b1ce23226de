"""Aliases and bits. Sources: Shannon, 1948 (entropy) and 1949 (sampling)."""

from fractions import Fraction
from math import log, log2


def alias(f: int, rate: int) -> dict[str, float]:
    """Distance to the nearest multiple of the sampling rate."""
    whole = rate * ((2 * f + rate) // (2 * rate))
    return {"answer": abs(f - whole), "whole": whole}


def entropy_bits(p: str) -> dict[str, float]:
    """−Σ p·log₂ p."""
    chances = _chances(p)
    return {"answer": _cross(chances, chances), "most": log2(len(chances))}


def cross_bits(p: str, q: str) -> dict[str, float]:
    """The Kullback-Leibler divergence of p from q, in bits."""
    own, cross = _cross(_chances(p), _chances(p)), _cross(_chances(p), _chances(q))
    return {"answer": cross - own, "own": own, "cross": cross}


def first_loss(n: int) -> float:
    """Cross-entropy of a uniform guess, in nats."""
    return log(n)


def logit_gradient(label: str, logit: str) -> dict[str, float]:
    """Softmax minus one-hot label."""
    q = {"a": 0.7, "b": 0.2, "c": 0.1}[logit]
    is_label = int(label == logit)
    return {"answer": q - is_label, "q": q, "is_label": is_label}


def _chances(text: str) -> list[float]:
    return [float(Fraction(part)) for part in text.split(", ")]


def _cross(p: list[float], q: list[float]) -> float:
    return -sum(a * log2(b) for a, b in zip(p, q, strict=True))
