"""Probes of speculative-decoding: acceptance and expectation after Leviathan, Kalman and Matias, 2022."""

RIDGE = 300  # rows up to which a step's time is constant, as the probe says


def pass_ms(bandwidth: int, tflops: int, billions: int, size: int, k: int, batch: int) -> dict[str, float]:
    """Milliseconds of a pass over k + 1 rows of each sequence."""
    rows = batch * (k + 1)
    read, compute = billions * size / bandwidth, 2 * billions * rows / tflops
    return {"answer": max(read, compute), "rows": rows, "read": read, "compute": compute}


def chance_to_accept(draft: str, target: str) -> float:
    """Σ min(p, q) in per cent."""
    return 100 * round(sum(map(min, _numbers(draft), _numbers(target))), 9)


def after_rejection(draft: str, target: str) -> dict[str, float | str]:
    """C's share of max(0, p − q), in per cent."""
    left = [round(max(0.0, p - q), 9) for q, p in zip(_numbers(draft), _numbers(target), strict=True)]
    shown = ", ".join(f"{value:.3g}" for value in left)
    return {"answer": 100 * left[2] / sum(left), "residual": shown, "whole": sum(left)}


def speed_up(alpha: float, k: int, cost: float) -> dict[str, float]:
    """Tokens of a pass over its time, in passes of the target."""
    expected, time = _expected(alpha, k), 1 + k * cost
    return {"answer": expected / time, "expected": expected, "time": time}


def best_k(alpha: float, cost: float) -> dict[str, float]:
    """The best of 1, 2 and 3."""
    speeds = {k: _expected(alpha, k) / (1 + k * cost) for k in (1, 2, 3)}
    return {
        "answer": max(speeds, key=lambda k: speeds[k]),
        "one": speeds[1],
        "two": speeds[2],
        "three": speeds[3],
    }


def largest_free_batch(ridge: int, k: int) -> dict[str, float]:
    """Sequences whose rows stay below the ridge."""
    return {"answer": ridge // (k + 1), "rows": k + 1}


def speed_at_load(batch: int, k: int, alpha: float) -> dict[str, float]:
    """Tokens of a pass over the growth of its time."""
    rows, expected = batch * (k + 1), _expected(alpha, k)
    longer = max(rows, RIDGE) / max(batch, RIDGE)
    return {"answer": expected / longer, "expected": expected, "rows": rows, "longer": longer}


def _expected(alpha: float, k: int) -> float:
    return (1 - alpha ** (k + 1)) / (1 - alpha)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(", ")]
