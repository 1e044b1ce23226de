"""Probes of inference-framework: coverage, memory plans and the search for a wrong layer."""

import re
from math import ceil, log2

SYMPTOMS = {
    "Activations take as much memory as all tensors of the network together.": (
        "memory planner",
        "it does not reuse the memory of tensors that are dead",
    ),
    "A profile shows convolution and its bias as two kernels.": ("graph optimiser", "it missed a fusion"),
    "Padding comes out asymmetric in one model, where an attribute was left at its default.": (
        "importer",
        "it has to apply the format's default values",
    ),
    "The GPU is idle for 8 µs between any two kernels, whatever they compute.": (
        "executor",
        "the host takes too long for each node",
    ),
    "A product of 17 rows runs in a kernel with tiles of 128 rows.": (
        "kernel selection",
        "a smaller tile, or split K, would suit the shape",
    ),
    "Results are wrong only if two branches of the graph are alive at once; each tensor is right when it is written.": (
        "memory planner",
        "it gave one address to two tensors that are both alive",
    ),
}


def whose_fault(symptom: str) -> dict[str, str]:
    """The part whose decision shows."""
    part, why = SYMPTOMS[symptom]
    return {"answer": part, "why": why}


def chip_factor(total: int, covered: int, speed: int, copies: int) -> dict[str, float]:
    """Amdahl's law with copies."""
    rest = total * (100 - covered) / 100
    ported = (total - rest) / speed
    after = rest + ported + copies
    return {"answer": total / after, "rest": rest, "ported": ported, "after": after}


def next_operator(softmax: float, resize: float, slices: int, copy: float) -> dict[str, str]:
    """The operator whose time and copies cost most; the draws leave no ties."""
    costs = {
        "Softmax": softmax + 2 * copy,
        "Resize": resize + 2 * copy,
        "Slice": slices * (0.2 + 2 * copy),
    }
    shown = ", ".join(f"{name} {cost:.3g}" for name, cost in costs.items())
    return {"answer": max(costs, key=lambda name: costs[name]), "costs": shown}


def _alive(tensors: str) -> list[tuple[int, int, int]]:
    """(size, first step, last step) of each tensor."""
    return [
        (int(size), int(first), int(last))
        for size, first, last in re.findall(r"\w (\d+) \((\d+)-(\d+)\)", tensors)
    ]


def peak_megabytes(tensors: str) -> dict[str, int]:
    """The largest sum of sizes alive in one step (Pisarchyk and Lee, 2020)."""
    lives = _alive(tensors)
    steps = range(1, 1 + max(last for _, _, last in lives))
    sums = {step: sum(size for size, first, last in lives if first <= step <= last) for step in steps}
    step = max(sums, key=lambda at: sums[at])
    return {"answer": sums[step], "step": step, "total": sum(size for size, _, _ in lives)}


def simple_slots(tensors: str) -> dict[str, int | str]:
    """Buffers of a planner that takes the smallest free one that fits."""
    buffers: list[list[int]] = []  # size, last step in use
    for size, first, last in _alive(tensors):
        free = [buffer for buffer in buffers if buffer[1] < first and buffer[0] >= size]
        if free:
            min(free)[1] = last
        else:
            buffers.append([size, last])
    sizes = [size for size, _ in buffers]
    return {"answer": sum(sizes), "buffers": ", ".join(map(str, sizes))}


def executor_factor(nodes: int, gpu: int, slow: int, fast: int) -> dict[str, float]:
    """The longer of host and GPU a node, before over after."""
    before, after = max(slow, gpu), max(fast, gpu)
    return {"answer": before / after, "before": before, "after": after}


def comparisons(layers: int) -> int:
    """Halvings of the candidates."""
    return ceil(log2(layers))


def half_tolerance(terms: int) -> dict[str, float]:
    """n · 2^-24 + 2^-11 in units of 1e-4: error bound of a sum of positive terms (Higham, 2002), and rounding."""
    sums = terms * 2.0**-24 * 1e4
    return {"answer": sums + 2.0**-11 * 1e4, "sums": sums}
