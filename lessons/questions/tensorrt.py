"""Probes of tensorrt: what is left of a graph, the best chain of layouts, memory alive. MB are powers of ten."""

import re
from itertools import pairwise, product

LAYOUTS = ("NCHW", "NHWC")
EIGHT_BIT = {
    "on the weights of all four and before the first two": 2,
    "before all four, and on the weights of the last": 1,
    "on weights and activations of the first, and only on activations of the others": 1,
    "on weights and activations of the last three, and only on weights of the first": 3,
    "on the weights of all four and nowhere else": 0,
}
"""Convolutions whose two operands are both quantised (TensorRT, Explicit Quantization)."""


def operations_left(program: str) -> dict[str, float | str]:
    """Operations that depend on x and on which y depends."""
    operations = {
        name: (call, names.split(", "))
        for name, call, names in re.findall(r"(\w) = (\w+)\(([^)]*)\)", program)
    }
    varying = {"x"}
    for name, (_, read) in operations.items():
        if varying & set(read):
            varying.add(name)
    needed, front = set(), ["y"]
    while front:
        name = front.pop()
        if name in operations and name not in needed:
            needed.add(name)
            front += operations[name][1]
    left = [call for name, (call, _) in operations.items() if name in needed & varying]
    return {"answer": len(left), "left": ", ".join(left)}


def siblings_saved(n: int, channels: int, side: int, batch: int) -> dict[str, float]:
    """MB of an FP16 tensor that is read once in place of n times."""
    tensor = 2 * batch * channels * side**2 / 1e6
    return {"answer": (n - 1) * tensor, "tensor": tensor}


def eight_bit_layers(pairs: str) -> int:
    """Convolutions with Q/DQ on weights and activations."""
    return EIGHT_BIT[pairs]


def best_chain(nchw: str, nhwc: str, reformat: int) -> dict[str, float | str]:
    """The cheapest assignment of layouts, reformats counted; NCHW at both ends."""
    times = [[int(time) for time in row.split(", ")] for row in (nchw, nhwc)]

    def cost(plan: tuple[int, ...]) -> int:
        changes = sum(a != b for a, b in pairwise((0, *plan, 0)))
        return changes * reformat + sum(times[layout][i] for i, layout in enumerate(plan))

    best = min(product((0, 1), repeat=len(times[0])), key=cost)
    greedy = tuple(int(b < a) for a, b in zip(*times, strict=True))
    return {"answer": cost(best), "plan": ", ".join(LAYOUTS[i] for i in best), "greedy": cost(greedy)}


def activation_megabytes(sizes: str, skip: str) -> dict[str, float]:
    """The most MB alive while an operator runs: its input, its output, and what is still needed later."""
    tensors = [int(size) for size in sizes.split(", ")]
    kept = {"first": 0, "second": 1}.get(skip.split()[-2]) if "also" in skip else None
    alive = []
    for step in range(1, len(tensors)):
        live = {step - 1, step} | ({kept} if kept is not None and kept < step else set())
        alive.append(sum(tensors[i] for i in live))
    most = max(alive)
    return {"answer": most, "step": alive.index(most) + 2, "total": sum(tensors)}


def two_streams(kernels: int, us: int, percent: int) -> dict[str, float | str]:
    """Microseconds of two branches side by side, or one after the other where a kernel fills the GPU."""
    if percent > 50:
        return {
            "answer": 2 * kernels * us,
            "why": "Each kernel fills the GPU, so they run one after the other",
        }
    return {"answer": kernels * us, "why": "Two kernels fit side by side"}
