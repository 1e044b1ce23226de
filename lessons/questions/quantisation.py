"""Probes of quantisation: scales, codes and errors. Rounding is to nearest, ties to even, as in ONNX QuantizeLinear."""

from math import floor, log2

LEVELS = 127  # largest code of symmetric INT8
LARGEST_E4M3 = 448.0
FRACTION_E4M3 = 3  # bits


def prefill_ms(ms: int, scheme: str) -> dict[str, float | str]:
    """Milliseconds at the integer rate where both operands are integers, else at that of FP16."""
    if "FP16 activations" in scheme:
        return {"answer": ms, "why": "Weights are converted to FP16 and multiplied at FP16's rate"}
    return {"answer": ms / 2, "why": "Both operands are INT8, so the products run at twice the rate"}


def token_ms(billions: int, terabytes: int, group: int) -> dict[str, float]:
    """Milliseconds to read 4-bit weights with an FP16 scale a group."""
    bits = 4 + 16 / group
    gigabytes = billions * bits / 8
    return {
        "answer": gigabytes / terabytes,
        "bits": bits,
        "gigabytes": gigabytes,
        "half": billions * 2 / terabytes,
    }


def code_of(largest: float, value: float) -> dict[str, float]:
    """Symmetric INT8: clamp(round(x · 127/max))."""
    scale = largest / LEVELS
    quotient = value / scale
    code = max(-LEVELS, min(LEVELS, round(quotient)))
    return {"answer": code, "scale": scale, "quotient": quotient}


def zero_point(low: float, high: float) -> dict[str, float]:
    """round(−min/s), s = (max − min)/255 (Jacob et al., 2017)."""
    scale = (high - low) / 255
    return {"answer": round(-low / scale), "scale": scale}


def codes_used(outlier: int) -> dict[str, int]:
    """Codes within ±1 where the range is ±outlier."""
    edge = round(LEVELS / outlier)
    return {"answer": 2 * edge + 1, "edge": edge}


def error_ratio(count: int, outlier: int) -> dict[str, float]:
    """Squared error of the range ±outlier over that of ±1, rounding errors uniform (Wu et al., 2020)."""
    coarse, fine = (outlier / LEVELS) ** 2 / 12, (1 / LEVELS) ** 2 / 12
    whole, clipped = count * coarse, count * fine + (outlier - 1) ** 2
    return {
        "answer": whole / clipped,
        "coarse": coarse,
        "fine": fine,
        "whole": whole,
        "clipped": clipped,
    }


def rescalings(m: int, n: int, k: int, scales: str) -> dict[str, float | str]:
    """Millions of (partial) sums that get a scale: one an output, or one an output and a group along K."""
    if "group" not in scales:
        return {
            "answer": m * n / 1e6,
            "why": "Both scales can be taken out of the sum over K, so each output is multiplied once",
        }
    group = int(scales.split("groups of")[-1].split("group of")[-1].split()[0])
    why = f"Each output has {k // group} partial sums, each with its own scale"
    return {"answer": m * n * (k // group) / 1e6, "why": why}


def small_channel(small: float, large: float) -> dict[str, int]:
    """Codes that a channel gets under the scale of a larger one."""
    edge = round(LEVELS * small / large)
    return {"answer": 2 * edge + 1, "edge": edge}


def gradient_through(scale: float, value: float, gradient: float) -> dict[str, float | str]:
    """Straight-through estimator: the gradient inside the range, 0 where the value was clamped."""
    low, high = -128 * scale, 127 * scale
    inside = low <= value <= high
    return {
        "answer": gradient if inside else 0,
        "low": low,
        "high": high,
        "where": "inside, where rounding is treated as the identity"
        if inside
        else "outside, where the value is clamped",
    }


def forward_value(scale: float, value: float) -> dict[str, float]:
    """scale · clamp(round(x/scale))."""
    code = max(-128, min(LEVELS, round(value / scale)))
    return {"answer": code * scale, "code": code}


def step_ratio(below: float) -> dict[str, float | str]:
    """448/127 over E4M3's spacing at 448/below (Micikevicius et al., FP8 Formats for Deep Learning, 2022)."""
    at = LARGEST_E4M3 / below
    fine = 2.0 ** (floor(log2(at)) - FRACTION_E4M3)
    ratio = LARGEST_E4M3 / LEVELS / fine
    return {"answer": ratio, "at": at, "fine": fine, "better": "E4M3" if ratio > 1 else "INT8"}


def smoothed(activation: float, weight: float) -> dict[str, float]:
    """√(activation · weight): SmoothQuant's balance at α = 0.5 (Xiao et al., 2022)."""
    factor = (activation / weight) ** 0.5
    return {"answer": activation / factor, "factor": factor}
