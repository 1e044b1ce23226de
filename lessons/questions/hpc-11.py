"""Numbers of hpc-11: what it costs to sum gradients. MB and GB are powers of ten, so MB / (GB/s) is ms."""


def ring_ms(n: int, megabytes: int, gigabytes: float, latency: int) -> dict[str, float]:
    """Milliseconds of a ring all-reduce: 2(n − 1) · (α + S / (n·B)), after Patarasuk and Yuan, 2009."""
    steps, piece = 2 * (n - 1), megabytes / n
    for_latency, for_bytes = steps * latency / 1e3, steps * piece / gigabytes
    return {
        "answer": for_latency + for_bytes,
        "steps": steps,
        "piece": piece,
        "for_latency": for_latency,
        "for_bytes": for_bytes,
    }


def server_ms(n: int, megabytes: int, servers: int, gigabytes: float) -> dict[str, float]:
    """Milliseconds of a push and a pull through parameter servers: 2·n·S / (p·B), limited by the servers' links."""
    share = n * megabytes / servers
    return {
        "answer": 2 * share / gigabytes,
        "share": share,
        "ring": 2 * (n - 1) / n * megabytes / gigabytes,
    }


def even_size(n: int, gigabytes: float, latency: int) -> float:
    """MB at which a ring's latency and bytes take equally long: S = n·α·B."""
    return n * latency * gigabytes / 1e3


def bus_bandwidth(n: int, megabytes: int, ms: int) -> dict[str, float]:
    """GB/s as NCCL's tests count them: S / t · 2(n − 1)/n (nccl-tests, doc/PERFORMANCE.md)."""
    algorithm = megabytes / ms
    return {"answer": algorithm * 2 * (n - 1) / n, "algorithm": algorithm}
