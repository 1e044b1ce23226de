"""Probes of nccl-algorithms: models of latency and bandwidth. MB / (GB/s) is ms, kB / (GB/s) is µs.

Source: nccl-tests, doc/PERFORMANCE.md; Hu et al., Demystifying NCCL, 2025, for protocols and trees.
"""

from math import log2

PROTOCOLS = {"LL": (1.0, 4 / 8), "LL128": (1.5, 120 / 128), "Simple": (6.0, 1.0)}  # µs, share of data
NVLINK = 400  # GB/s, as the probe says


def faster_of_two(n: int, latency: int, gigabytes: int, kilobytes: int) -> dict[str, float]:
    """Microseconds of a ring and of a double tree."""
    whole = kilobytes / gigabytes
    ring = 2 * (n - 1) * (latency + whole / n)
    tree = 2 * log2(n) * latency + 2 * whole
    return {"answer": min(ring, tree), "ring": ring, "tree": tree}


def megabytes_sent(n: int, megabytes: int, how: str) -> dict[str, float | str]:
    """MB over a GPU's links in one direction."""
    if how == "in a ring":
        return {
            "answer": 2 * (n - 1) / n * megabytes,
            "why": f"Each GPU sends 2 · {n - 1} pieces of {megabytes} / {n} MB",
        }
    why = (
        f"The switch reads a GPU's {megabytes} MB once, and the GPU stores its share of {megabytes} / {n} MB"
    )
    return {"answer": megabytes * (1 + 1 / n), "why": why}


def protocol_us(kilobytes: int, gigabytes: int, protocol: str) -> dict[str, float]:
    """Microseconds of a hop."""
    fixed, share = PROTOCOLS[protocol]
    return {"answer": fixed + kilobytes / (gigabytes * share), "fixed": fixed, "share": share}


def nodes_ms(nodes: int, gigabytes: int, cards: int, gigabits: int) -> dict[str, float]:
    """Milliseconds of a ring over nodes: the slower of network and NVLink counts."""
    network, gpus = cards * gigabits / 8, 8 * nodes
    slower = min(network, NVLINK)
    answer = 2 * (gpus - 1) / gpus * gigabytes / slower * 1e3
    return {"answer": answer, "network": network, "slower": slower, "less": gpus - 1, "all": gpus}


def busbw_of(collective: str, megabytes: int, n: int, ms: int) -> dict[str, float]:
    """GB/s as nccl-tests count them, for collectives without reduction to all."""
    algorithm = megabytes / ms
    factor = 1.0 if collective == "a broadcast" else (n - 1) / n
    return {"answer": algorithm * factor, "algorithm": algorithm, "factor": factor}
