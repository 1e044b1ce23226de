"""Probes of operator-fusion: bytes, launches and recomputed values. MB and GB are powers of ten."""

from math import exp

HALF = 2  # bytes of an FP16 element
TENSORS = {
    "gelu(X + b) + R": (7, 3),
    "relu(X) * R": (5, 3),
    "sigmoid(X) * X": (5, 2),
    "(X - m) * s + R": (7, 3),
    "tanh(X + Y + R)": (8, 4),
}
"""Tensors read or written: by one kernel for each operator, and by one for all."""
PRODUCTS = {"conv", "matmul"}
REDUCTIONS = {"sum", "max"}
OPAQUE = {"sort"}


def megabytes_saved(k: int, millions: int) -> dict[str, float]:
    """MB not moved: a chain of k element-wise kernels reads and writes k tensors, one kernel a single one."""
    tensor = millions * HALF
    return {"answer": 2 * (k - 1) * tensor, "tensor": tensor}


def traffic_ratio(expression: str) -> dict[str, float]:
    """Tensors moved by single kernels over those moved by one."""
    apart, fused = TENSORS[expression]
    return {"answer": apart / fused, "apart": apart, "fused": fused}


def launch_factor(kernels: int, busy: int, launch: int, fewer: int) -> dict[str, float]:
    """Time of a step before over after; launches overlap with work, so the slower of the two counts."""
    gpu = kernels * busy
    before, after = max(kernels * launch, gpu), max(fewer * launch, gpu)
    return {"answer": before / after, "before": before, "after": after, "gpu": gpu}


def folded_bias(gamma: float, beta: float, mean: float, variance: float) -> dict[str, float]:
    """b' = (0 − mean) · γ/σ + β, of batch normalisation behind a convolution without bias."""
    factor = gamma / variance**0.5
    return {"answer": beta - mean * factor, "factor": factor}


def epilogue_factor(n: int, k: int) -> dict[str, float]:
    """Traffic of a product and a kernel over its result, over that of a product with an epilogue."""
    operands = 2 * k / n
    return {"answer": (operands + 3) / (operands + 1), "operands": operands}


def score_gigabytes(heads: int, tokens: int) -> float:
    """GB of scores and probabilities, each written once and read once (Dao et al., 2022, algorithm 0)."""
    return 4 * heads * tokens**2 * HALF / 1e9


def running_sum(old: int, new: int, total: int) -> dict[str, float]:
    """exp(old maximum − new maximum), after Milakov and Gimelshein, 2018; it does not depend on the sum."""
    largest = max(old, new)
    return {"answer": exp(old - largest), "largest": largest}


def kernels_left(chain: str) -> dict[str, float | str]:
    """Groups of a chain by the rules of Chen et al., 2018: what may follow depends on what the group ends in."""
    groups: list[list[str]] = []
    for operator in chain.split(", "):
        last = groups[-1] if groups else [*OPAQUE]
        closed = bool({last[-1]} & (REDUCTIONS | OPAQUE))
        begins = operator in PRODUCTS | OPAQUE or (operator in REDUCTIONS and last[0] in PRODUCTS)
        if closed or begins:
            groups.append([])
        groups[-1].append(operator)
    return {"answer": len(groups), "groups": " | ".join(", ".join(group) for group in groups)}


def microseconds_gained(product: int, activation: int, share: int) -> dict[str, float]:
    """Two kernels of a library less one kernel that reaches `share` per cent of its product's speed."""
    fused = 100 * product / share
    return {"answer": product + activation - fused, "fraction": share / 100, "fused": fused}


def halo_factor(tile: int) -> float:
    """Results of the first 3 × 3 convolution that a tile needs, over the tile."""
    return ((tile + 2) / tile) ** 2
