"""Probes of cutting a graph: memory, collectives, stages, values that cross."""

from itertools import combinations

BYTES = {"BF16": 2, "FP8": 1}
TOKENS = {"4,096": 4096, "64 users": 64, "256 users": 256}
HEAD = 128  # values


def least_gpus(billions: int, bits: int, users: int, cache: float, memory: float) -> dict[str, float]:
    """The least power of two of GPUs whose memory, less a tenth, holds weights and caches."""
    weights, caches, usable = billions * bits / 8, users * cache, 0.9 * memory
    gpus = 1
    while gpus * usable < weights + caches:
        gpus *= 2
    return {"answer": gpus, "weights": weights, "caches": caches, "usable": usable}


def all_reduces(layers: int, gpus: int, cut: str) -> dict[str, float | str]:
    """Collectives a token: one for attention, and one or two for the MLP (Shoeybi et al., 2019)."""
    del gpus
    if "second by rows" in cut:
        return {
            "answer": 2 * layers,
            "each": 2,
            "why": "There is one all-reduce after attention and one after the MLP",
        }
    why = "There is one all-reduce after attention, and one gather after each matrix of the MLP"
    return {"answer": 3 * layers, "each": 3, "why": why}


def token_ms(
    gigabytes: float, bandwidth: float, layers: int, how: str, gpus: int, latency: float
) -> dict[str, float]:
    """Milliseconds of a token: weights read in parallel (tensors) or in turn (layers), and exchanges."""
    in_turn = gigabytes / bandwidth
    reading, exchanges = (in_turn / gpus, 2 * layers) if "tensors" in how else (in_turn, gpus - 1)
    waiting = exchanges * latency / 1e3
    return {"answer": reading + waiting, "reading": reading, "exchanges": exchanges, "waiting": waiting}


def best_stages(times: str, stages: int) -> dict[str, float | str]:
    """The least slowest stage of all cuts of a chain."""
    blocks = [int(time) for time in times.split(",")]

    def parts(cuts: tuple[int, ...]) -> list[list[int]]:
        return [blocks[a:b] for a, b in zip((0, *cuts), (*cuts, len(blocks)), strict=True)]

    best = min(
        (parts(cuts) for cuts in combinations(range(1, len(blocks)), stages - 1)),
        key=lambda found: max(map(sum, found)),
    )
    shown = " | ".join(" + ".join(map(str, part)) for part in best)
    return {"answer": max(map(sum, best)), "cut": shown, "even": sum(blocks) / stages}


def busy(stages: int, ms: float, groups: int) -> dict[str, float]:
    """Per cent of time that a stage works, where each batch is in one stage at a time."""
    del ms
    at_work = min(groups, stages)
    return {"answer": 100 * at_work / stages, "at_work": at_work}


def crossing(ratio: int, where: str) -> dict[str, float | str]:
    """Values across a cut within a gated MLP, in units of h, the residual among them."""
    if "before" in where:
        return {
            "answer": 2 * ratio + 1,
            "why": f"The gate and the value, {ratio}h each, and the residual cross the cut",
        }
    return {"answer": ratio + 1, "why": f"The product, {ratio}h, and the residual cross the cut"}


def hidden_megabytes(width: int, what: str) -> dict[str, float]:
    """MB of the hidden state of all tokens of a step in BF16."""
    tokens = next(count for words, count in TOKENS.items() if words in what)
    return {"answer": tokens * width * 2 / 1e6, "tokens": tokens}


def cache_ms(layers: int, heads: int, type: str, tokens: int, network: float) -> dict[str, float]:
    """Milliseconds to send a prompt's keys and values; GB over GB/s are seconds."""
    each = 2 * layers * heads * HEAD * BYTES[type]
    gigabytes = each * tokens / 1e9
    return {
        "answer": 1e3 * gigabytes / network,
        "bytes": BYTES[type],
        "kilobytes": each / 1e3,
        "gigabytes": gigabytes,
    }
