"""Probes of operators of one's own: traces, gradients, strides, differences in FP32, passes over memory."""

from math import exp

STEP = 1e-6  # of gradcheck, its default `eps`


def times_traced(calls: str) -> int:
    """Signatures among the calls: Python numbers count by value, scalar tensors by dtype (tf.function's guide)."""
    signatures = set()
    for call in calls.split(", "):
        number = call.removeprefix("tf.constant(").removesuffix(")")
        dtype = "float32" if "." in number else "int32"
        signatures.add(dtype if call.startswith("tf.") else number)
    return len(signatures)


def fake_elements(rows: int, columns: int) -> int:
    """Elements of the input more than of the sums of its rows."""
    return rows * columns - rows


def returned(inputs: str, which: str) -> int:
    """A gradient for each input, whichever require one."""
    del which
    return len(inputs.split(", "))


def silu_gradient(given: float, x: float) -> dict[str, float]:
    """The gradient of x·s(x): s + x·s·(1 − s), by the chain rule."""
    s = 1 / (1 + exp(-x))
    slope = s + x * s * (1 - s)
    return {"answer": given * slope, "slope": slope}


def read_instead(rows: int, columns: int, i: int, j: int) -> dict[str, int]:
    """Offset of x[i][j] of a transpose, which has strides (1, columns), and as if it were contiguous."""
    return {"answer": i + j * columns, "wrong": i * rows + j}


def gradcheck_step(exponent: int) -> float:
    """Steps of the central difference of values that are multiples of 2^exponent."""
    return 2.0**exponent / (2 * STEP)


def fused_times(extra: str) -> dict[str, float]:
    """Tensors read and written by three operators over those of one pass."""
    eager, fused = (3 + 3 + 2, 3 + 1) if not extra else (2 + 2 + 2, 1 + 1)
    return {"answer": eager / fused, "eager": eager, "fused": fused}
