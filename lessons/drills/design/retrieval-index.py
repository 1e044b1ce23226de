"""A retrieval index on GPUs."""

import math


def _coded(million, pq):
    return million * (pq + 8) / 1e3


def flat_gb(million: int, dim: int, **_: object) -> float:
    """Two bytes a number."""
    return million * 2 * dim / 1e3


def coded_gb(million: int, pq: int, **_: object) -> float:
    """Codes (Jégou et al., 2011) and identifiers."""
    return float(_coded(million, pq))


def gpus(million: int, pq: int, **_: object) -> dict[str, float]:
    """Bytes over 64 GB, rounded up."""
    gb = _coded(million, pq)
    return {"answer": math.ceil(gb / 64), "gb": gb}


def probe_mb(million: int, pq: int, lists: int, probes: int, **_: object) -> dict[str, float]:
    """The share of the lists that is visited (Johnson et al., 2017, section 2)."""
    gb, share = _coded(million, pq), probes / (lists * 1e3)
    return {"answer": 1e3 * gb * share, "gb": gb, "share": 100 * share}


LOOK_UPS = 4.9e12
"""A second, from shared memory without conflicts: 32 banks of 108 multiprocessors at 1.41 GHz (A100's data sheet)."""


def exhaustive(million: int, pq: int, **_: object) -> dict[str, float]:
    """Every GPU reads its part for each batch and looks up pq numbers a vector and query, all at the same time."""
    gb = _coded(million, pq)
    gpus = math.ceil(gb / 64)
    read = 1e3 * gb / gpus / (0.7 * 2039)
    looked_up = 1e3 * million * 1e6 / gpus * pq * 64 / LOOK_UPS
    return {"answer": 64e3 / max(read, looked_up), "part": gb / gpus, "read": read, "looked_up": looked_up}


def list_work(lists: int, probes: int, million: int) -> dict[str, float]:
    """Centroids, and the vectors of the lists (Johnson et al., 2017, section 2)."""
    scanned = probes * million * 1e6 / (lists * 1e3) / 1e3
    return {"answer": lists + scanned, "scanned": scanned}


def rerank_gbs(k: int, dim: int, rate: int) -> float:
    """Rows of all candidates."""
    return rate * k * 2 * dim / 1e9


def slow_queries(percent: float, n: int) -> float:
    """1 − (1 − p)^n (Dean and Barroso, 2013)."""
    return 100 * (1 - (1 - percent / 100) ** n)


def side_share(vectors: int, dim: int, days: int) -> float:
    """Vectors of all days."""
    return vectors * days * 2 * dim / 1e9
