"""Ranking with embedding tables."""

import math


def _table(tables, million):
    return tables * million * 128 / 1e3


def _read(candidates, tables, rate):
    return rate * candidates * tables * 128 / 1e9


def table_gb(tables: int, million: int, **_: object) -> float:
    """Rows times 128 bytes (Naumov et al., 2019, section 2.1)."""
    return float(_table(tables, million))


def gpus(tables: int, million: int, **_: object) -> dict[str, float]:
    """Bytes over 60 GB, rounded up."""
    gb = _table(tables, million)
    return {"answer": math.ceil(gb / 60), "gb": gb}


def read_gbs(candidates: int, tables: int, rate: int, **_: object) -> float:
    """A row of each table and candidate."""
    return float(_read(candidates, tables, rate))


def dense_tflops(candidates: int, mflop: int, rate: int, **_: object) -> float:
    """FLOP of all candidates."""
    return rate * candidates * mflop / 1e6


def decides(candidates: int, tables: int, million: int, mflop: int, rate: int) -> dict[str, object]:
    """The resource of which the most GPUs are needed."""
    need = {
        "memory for the tables": _table(tables, million) / 60,
        "bandwidth for rows": _read(candidates, tables, rate) / (0.4 * 3350),
        "arithmetic": rate * candidates * mflop / 1e6 / 200,
    }
    memory, bandwidth, arithmetic = need.values()
    answer = max(need, key=lambda name: need[name])
    return {"answer": answer, "memory": memory, "bandwidth": bandwidth, "arithmetic": arithmetic}


def exchange(n: int, tables: int, batch: int) -> float:
    """All-to-all of looked-up vectors (Naumov et al., 2019, butterfly shuffle)."""
    return batch * tables * 128 * (n - 1) / n / 1e6


def mean_ns(hit: int, fast: int) -> float:
    """Times add up: the harmonic mean, weighted by bytes."""
    return 1 / (hit / 100 / fast + (1 - hit / 100) / 25)


def slow_requests(n: int) -> float:
    """1 − 0.99^n (Dean and Barroso, 2013)."""
    return 100 * (1 - 0.99**n)


def update_s(gb: int, percent: int) -> dict[str, float]:
    """Bytes over the share of the link."""
    gbs = 12.5 * percent / 100
    return {"answer": gb / gbs, "gbs": gbs}
