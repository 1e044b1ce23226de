"""Probes of recommendation models: interactions, tables, look-ups, shards, caches, the funnel."""

from itertools import product
from math import ceil

FLOAT = 4  # bytes
BYTES = {"FP32": 4, "FP16": 2}
DRAM = 64  # bytes of an access


def interactions(features: int, size: int) -> dict[str, int]:
    """Inputs of the top MLP: pairs of all vectors and the dense one (Naumov et al., 2019)."""
    vectors = features + 1
    pairs = vectors * features // 2
    return {"answer": pairs + size, "vectors": vectors, "pairs": pairs}


def table_gigabytes(millions: int, size: int, type: str, optimiser: str) -> dict[str, float]:
    """GB of a table with its optimiser's state."""
    values = millions * 1e6 * size * BYTES[type] / 1e9
    state = millions * 1e6 * FLOAT * (2 * size if optimiser.startswith("Adam,") else 1) / 1e9
    return {"answer": values + state, "values": values, "state": state}


def lookup_ms(batch: int, tables: int, pooling: int, size: int, bandwidth: float) -> dict[str, float]:
    """Milliseconds to read all rows of a batch; GB over TB/s are ms."""
    values = batch * tables * pooling * size
    gigabytes = FLOAT * values / 1e9
    return {"answer": gigabytes / bandwidth, "gigabytes": gigabytes, "gflop": values / 1e9}


def fetched(size: int, type: str) -> dict[str, float]:
    """Bytes that DRAM delivers over those used; rows do not straddle accesses, since sizes are powers of two."""
    row = size * BYTES[type]
    lines = ceil(row / DRAM)
    return {"answer": lines * DRAM / row, "row": row, "lines": lines}


def all_to_all(gpus: int, batch: int, tables: int, size: int) -> dict[str, float]:
    """MB of pooled vectors that a GPU sends: its tables, for all other GPUs' samples."""
    own, others = tables // gpus, batch * (gpus - 1)
    return {"answer": own * others * size * FLOAT / 1e6, "own": own, "others": others, "bytes": size * FLOAT}


def slowest_shard(costs: str, gpus: int) -> dict[str, float]:
    """The best placement of whole tables, by trying all."""
    times = [int(cost) for cost in costs.split(",")]
    placements = product(range(gpus), repeat=len(times))
    best = min(
        max(sum(t for t, at in zip(times, placement, strict=True) if at == gpu) for gpu in range(gpus))
        for placement in placements
    )
    return {"answer": best, "total": sum(times), "even": sum(times) / gpus}


def effective_bandwidth(hits: int, fast: float, slow: float) -> dict[str, float]:
    """The weighted harmonic mean of two bandwidths."""
    near, far = hits / 100 / fast * 1e3, (100 - hits) / 100 / slow * 1e3
    return {"answer": 1e3 / (near + far), "near": near, "far": far, "share": 100 * far / (near + far)}


def funnel(search: float, found: int, light: float, kept: int, heavy: float) -> dict[str, float]:
    """Milliseconds of retrieval, light and heavy ranking."""
    first, second = found * light / 1e3, kept * heavy / 1e3
    return {
        "answer": search + first + second,
        "first": first,
        "second": second,
        "all": search + found * heavy / 1e3,
    }


def user_once(user: int, item: int, candidates: int) -> dict[str, float]:
    """FLOP with the user part for each candidate over those with it once."""
    naive, shared = candidates * (user + item), user + candidates * item
    return {"answer": naive / shared, "naive": naive, "shared": shared}
