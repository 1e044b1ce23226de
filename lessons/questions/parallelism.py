"""Probes of parallelism: bytes held, bytes sent, time idle. MB and GB are powers of ten; BF16 has 2 bytes."""

BF16 = 2
WEIGHT, GRADIENT, OPTIMISER = 2, 2, 12
"""Bytes a parameter of Adam in mixed precision (Rajbhandari et al., 2019, section 3.1)."""


def state_gigabytes(billions: int, n: int, stage: str) -> dict[str, float | str]:
    """GB of model states of a GPU (Rajbhandari et al., 2019, figure 1)."""
    level = int(stage[-1]) if stage[-1].isdigit() else 0
    bytes_each = sum(
        size / n if level >= first else size for size, first in ((OPTIMISER, 1), (GRADIENT, 2), (WEIGHT, 3))
    )
    formula = ("2 + 2 + 12", f"2 + 2 + 12/{n}", f"2 + (2 + 12)/{n}", f"(2 + 2 + 12)/{n}")[level]
    return {"answer": billions * bytes_each, "formula": formula}


def step_gigabytes(billions: int, n: int, stage: str) -> dict[str, float]:
    """GB sent by a GPU: two passes, or three where weights are gathered twice (Rajbhandari et al., 2019, section 7)."""
    passes, size = 3 if stage.endswith("3") else 2, billions * BF16
    return {"answer": passes * (n - 1) / n * size, "passes": passes, "size": size}


def layer_megabytes(hidden: int, tokens: int, t: int) -> dict[str, float]:
    """MB sent in a layer's forward pass: two ring all-reduces of tokens × hidden (Shoeybi et al., 2019)."""
    size = hidden * tokens * BF16 / 1e6
    return {"answer": 2 * 2 * (t - 1) / t * size, "size": size}


def decode_latency(layers: int, us: int) -> float:
    """Milliseconds of two all-reduces a layer."""
    return 2 * layers * us / 1e3


def bubble_percent(p: int, m: int) -> float:
    """(p − 1)/(m + p − 1) in per cent: the bubble over the whole step."""
    return 100 * (p - 1) / (m + p - 1)


def kept_microbatches(p: int, m: int, schedule: str) -> dict[str, int | str]:
    """Micro-batches whose activations the first stage keeps (Narayanan et al., 2021, section 2.2)."""
    if schedule.startswith("GPipe"):
        return {"answer": m, "why": "All forward passes run before the first backward pass"}
    return {
        "answer": min(p, m),
        "why": "Once the pipeline is full, a backward pass comes before each further forward pass",
    }


def ring_megabytes(c: int, tokens: int, heads: int) -> dict[str, float]:
    """MB sent: the own block of keys and values and those of c − 2 others are passed on (Liu et al., 2023)."""
    block = tokens / c * 2 * heads * 128 * BF16 / 1e6
    return {"answer": (c - 1) * block, "block": block}


def sequence_megabytes(t: int, megabytes: int) -> float:
    """MB of a reduce-scatter and an all-gather (Korthikanti et al., 2022)."""
    return 2 * (t - 1) / t * megabytes


def all_to_all_megabytes(e: int, tokens: int, hidden: int, k: int) -> dict[str, float]:
    """MB sent by a GPU for dispatch and combine with even routing."""
    size = hidden * BF16
    return {"answer": 2 * tokens * k * size * (e - 1) / e / 1e6, "bytes": size}


def imbalance(e: int, percent: int) -> dict[str, float]:
    """The busiest GPU's share over an even one."""
    return {"answer": percent * e / 100, "even": 100 / e}


def combined_bubble(n: int, t: int, p: int, batch: int) -> dict[str, float]:
    """Per cent of the bubble where the batch is divided over d = n/(t·p) pipelines."""
    d = n // (t * p)
    m = batch // d
    return {"answer": bubble_percent(p, m), "d": d, "m": m}
