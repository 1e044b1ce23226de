"""Probes of all-reduce: what it costs to sum gradients. MB and GB are powers of ten, so MB / (GB/s) is ms."""

from math import log2


def steps_until(n: int, what: str) -> dict[str, float]:
    """Steps of a ring: n − 1 until a piece is complete, as many more for all (Patarasuk and Yuan, 2009)."""
    once = n - 1
    return {"answer": once if "one piece" in what else 2 * once, "once": once}


def piece_megabytes(n: int, megabytes: int) -> float:
    """MB of one of the n pieces of a ring."""
    return megabytes / n


def ring_ms(n: int, megabytes: int, gigabytes: int) -> dict[str, float]:
    """Milliseconds of a ring all-reduce without latency: 2(n − 1)/n · S/B, after Patarasuk and Yuan, 2009."""
    sent = 2 * (n - 1) * megabytes / n
    return {"answer": sent / gigabytes, "sent": sent}


def bus_bandwidth(n: int, megabytes: int, ms: int) -> dict[str, float]:
    """GB/s as NCCL's tests count them: S / t · 2(n − 1)/n (nccl-tests, doc/PERFORMANCE.md)."""
    algorithm = megabytes / ms
    return {"answer": algorithm * 2 * (n - 1) / n, "algorithm": algorithm}


def latency_ratio(n: int) -> dict[str, float]:
    """Steps of a ring over those of a binary tree, up and down."""
    ring, depth = 2 * (n - 1), int(log2(n))
    return {"answer": ring / (2 * depth), "ring": ring, "depth": depth, "tree": 2 * depth}


def even_size(n: int, gigabytes: float, latency: int) -> float:
    """MB at which a ring's latency and bytes take equally long: S = n·α·B."""
    return n * latency * gigabytes / 1e3


def server_ms(n: int, megabytes: int, servers: int, gigabytes: float) -> dict[str, float]:
    """Milliseconds of a push and a pull through parameter servers: 2·n·S / (p·B), limited by the servers' links."""
    share = n * megabytes / servers
    return {
        "answer": 2 * share / gigabytes,
        "share": share,
        "ring": 2 * (n - 1) / n * megabytes / gigabytes,
    }


def times_the_ring(n: int, servers: int) -> dict[str, float]:
    """2·n/p over 2·(n − 1)/n: parameter servers (Li et al., 2014) against a ring, in units of S/B."""
    for_servers, for_ring = 2 * n / servers, 2 * (n - 1) / n
    return {"answer": for_servers / for_ring, "for_servers": for_servers, "for_ring": for_ring}


def gradients_a_second(n: int, slow: int, fast: int, how: str) -> dict[str, float | str]:
    """Gradients applied in a second: all wait for the slowest, or each worker goes on by itself."""
    if "asynchronous" in how:
        each = (n - 1) / fast + 1 / slow
        return {
            "answer": 1e3 * each,
            "why": f"{n - 1} workers deliver a gradient every {fast} ms each, and one worker every {slow} ms",
        }
    return {
        "answer": 1e3 * n / slow,
        "why": f"All wait for the slowest worker, so {n} gradients are applied every {slow} ms",
    }


def sparse_factor(rows: int, touched: int) -> float:
    """Rows of a table over rows that a batch touches."""
    return rows * 1e6 / (touched * 1e3)
