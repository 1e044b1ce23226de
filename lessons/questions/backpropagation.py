"""Probes of back-propagation through Y = X·W: values, sums, FLOP, bytes, differences."""

import numpy as np

BF16 = 2  # bytes


def element_of_dw(a: int, b: int, c: int, d: int, p: int, q: int) -> int:
    """dW[0][1] of dW = Xᵀ·G."""
    return int((np.array([[a, b], [c, d]]).T @ np.array([[1, p], [q, 2]]))[0, 1])


def element_of_dx(a: int, b: int, c: int, d: int, p: int, q: int) -> int:
    """dX[0][1] of dX = G·Wᵀ."""
    return int((np.array([[1, p], [q, 2]]) @ np.array([[a, b], [c, d]]).T)[0, 1])


def products_summed(tokens: int, inputs: int, outputs: int, what: str) -> dict[str, float | str]:
    """Length of the sum for an element of Y, dX or dW."""
    if "weights" in what:
        return {"answer": tokens, "why": "A weight is used once for every token"}
    if "input" in what:
        return {"answer": outputs, "why": "An input contributes to all output features of its token"}
    return {"answer": inputs, "why": "An output is a sum over all input features"}


def backward_flop(layers: int, size: int, rows: int) -> dict[str, float]:
    """Products of the backward pass over those of the forward pass; the first layer needs no dX."""
    del size, rows
    return {"answer": (2 * layers - 1) / layers, "inner": layers - 1}


def bias_gradient(rows: int, columns: int) -> int:
    """A bias is in one element of each row."""
    del columns
    return rows


def used_twice(a: int, b: int, x: int) -> dict[str, int]:
    """dL/dx of L = (a·x)² + b·x."""
    through = 2 * a * x * a
    return {"answer": through + b, "through": through}


def gigabytes_kept(layers: int, width: int, rows: int) -> dict[str, float]:
    """GiB of the layers' inputs in BF16."""
    each = BF16 * rows * width / 2**30
    return {"answer": layers * each, "each": each}


def with_checkpoints(layers: int, every: int) -> dict[str, int]:
    """Inputs in memory at most: the checkpoints, and the rest of one segment (Chen et al., 2016)."""
    segments = layers // every
    return {"answer": segments + every - 1, "segments": segments, "inner": every - 1}


def passes_for_a_jacobian(inputs: int, outputs: int, passes: str) -> dict[str, float | str]:
    """Rows by backward passes, columns by forward ones."""
    if "backward" in passes:
        return {"answer": outputs, "why": "Each backward pass gives one row, the derivatives of one output"}
    return {
        "answer": inputs,
        "why": "Each forward pass gives one column, the derivatives with respect to one input",
    }


def grad_after(steps: int, each: int, cleared: str) -> int:
    """What has been added since `.grad` was last cleared."""
    since = {"before each": 1, "never": steps, "before the second": steps - 1}
    return each * next(count for when, count in since.items() if when in cleared)


def difference_error(w: int, h: float, how: str) -> dict[str, float | str]:
    """Error of a difference quotient of w³: 3wh + h² forward, h² central."""
    if "forward" in how:
        return {
            "answer": 3 * w * h + h**2,
            "why": f"Its error is 3·w·h + h² with w = {w}, nearly proportional to h",
        }
    return {"answer": h**2, "why": "The terms in h cancel, and the error is h² for every w"}
