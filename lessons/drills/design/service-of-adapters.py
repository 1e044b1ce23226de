"""A service of many fine-tuned models."""

import math


def _mb(rank):
    return 32 * 4 * 2 * rank * 4096 * 2 / 1e6


def adapter_mb(rank: int, **_: object) -> float:
    """Two factors of r × h for each matrix (Hu et al., 2021)."""
    return float(_mb(rank))


def resident(rank: int, adapter_gb: int, **_: object) -> dict[str, float]:
    """Rounded down."""
    return {"answer": math.floor(1e3 * adapter_gb / _mb(rank)), "each": _mb(rank)}


def all_gb(rank: int, thousand: int, **_: object) -> dict[str, float]:
    """Adapters times bytes."""
    return {"answer": thousand * _mb(rank), "each": _mb(rank)}


def load_ms(rank: int, **_: object) -> dict[str, float]:
    """Bytes over bandwidth (Sheng et al., 2023)."""
    return {"answer": _mb(rank) / 25, "each": _mb(rank)}


def missing(percent: int, rate: int, **_: object) -> dict[str, float]:
    """Requests to the others."""
    return {"answer": rate * (100 - percent) / 100, "rest": 100 - percent}


def apart(adapters: int, **_: object) -> float:
    """Decoding reads all weights in each step, whatever the batch (Pope et al., 2022)."""
    return 12 * adapters


def mean_delay(hit: int, load: int) -> float:
    """Probability of a miss times its time."""
    return (100 - hit) / 100 * load


def copies(gpus: int, **_: object) -> float:
    """Different adapters over those of one GPU."""
    return gpus


def first_come(burst: int, rate: int) -> float:
    """Work ahead over the rate."""
    return burst / rate
