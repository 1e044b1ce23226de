"""A service for long contexts."""

import math


def _cache(thousand):
    return 2 * 2 * 32 * 8 * 128 * thousand * 1e3 / 1e9


def _parts(thousand):
    """PFLOP of the weights and of causal attention."""
    s = thousand * 1e3
    return 2 * 8e9 * s / 1e15, 32 * 2 * s**2 * 4096 / 1e15


def cache_gb(thousand: int, **_: object) -> float:
    """Keys and values of all layers (Pope et al., 2022)."""
    return float(_cache(thousand))


def fit(thousand: int, **_: object) -> dict[str, float]:
    """Rounded down."""
    each = _cache(thousand)
    return {"answer": math.floor(110 / each), "each": each}


def pflop(thousand: int, **_: object) -> dict[str, float]:
    """2N a token (Kaplan et al., 2020), and half of 4·s²·width a layer for the mask (Dao, 2023, section 4.1)."""
    dense, scores = _parts(thousand)
    return {"answer": dense + scores, "dense": dense, "scores": scores}


def gpus(thousand: int, ttft: int, **_: object) -> dict[str, float]:
    """Seconds of one GPU at 40 % of its peak over those allowed."""
    work = sum(_parts(thousand))
    alone = work / (0.4 * 0.989)
    return {"answer": math.ceil(alone / ttft), "work": work, "alone": alone}


def token_ms(thousand: int, **_: object) -> dict[str, float]:
    """Bytes over bandwidth (Pope et al., 2022)."""
    cache = _cache(thousand)
    return {"answer": 1e3 * (16 + cache) / 4800, "cache": cache}


def attention_share(thousand: int) -> dict[str, float]:
    """One term over both."""
    dense, scores = _parts(thousand)
    return {"answer": 100 * scores / (dense + scores), "scores": scores, "whole": dense + scores}


def back_factor(gb: int, pcie: int, seconds: int) -> dict[str, float]:
    """Time of the prefill over that of the copy."""
    return {"answer": seconds / (gb / pcie), "back": gb / pcie}


def smaller_step(gb: int, bits: int) -> dict[str, float]:
    """Bytes before over bytes after."""
    before, after = 16 + gb, 16 + gb * bits / 16
    return {"answer": before / after, "before": before, "after": after}


def chunks(thousand: int, chunk: int, step: int) -> dict[str, float]:
    """Chunks times the time of a step (Agrawal et al., 2023)."""
    count = thousand * 1000 / chunk
    return {"answer": count * step / 1e3, "count": count}
