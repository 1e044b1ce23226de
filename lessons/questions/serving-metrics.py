"""Probes of serving-metrics: FLOP and bytes of prefill and decode (Pope et al., 2022), and Little's law."""

import math

REQUESTS = ((200, 30), (450, 60), (900, 20), (300, 45), (480, 40))  # TTFT and TPOT in ms, as the probe says


def prefill_ms(billions: int, tokens: int, gpus: int, tflops: int, queue: int) -> dict[str, float]:
    """TTFT: 2 FLOP for each parameter and token, and the queue."""
    tflop = 2 * billions * tokens / 1e3
    compute = tflop / (gpus * tflops) * 1e3
    return {"answer": queue + compute, "tflop": tflop, "all": gpus * tflops, "compute": compute}


def step_ms(weights: int, kilobytes: int, batch: int, length: int, bandwidth: int) -> dict[str, float]:
    """Milliseconds to read the weights and all caches."""
    cache = kilobytes * batch * length / 1e6
    answer = (weights + cache) / bandwidth
    return {"answer": answer, "cache": cache, "rate": batch / answer * 1e3}


def batch_at_ridge(tflops: int, bandwidth: float, size: int) -> float:
    """Sequences for which 2 FLOP a weight take as long as its bytes."""
    return tflops * size / (2 * bandwidth)


def batch_that_fits(gpus: int, memory: int, weights: int, kilobytes: int, length: int) -> dict[str, float]:
    """Sequences of full length beside the weights."""
    left, each = 0.9 * gpus * memory - weights, kilobytes * length / 1e6
    return {"answer": math.floor(left / each), "left": left, "each": each}


def goodput(seconds: int, each: int, first: int, token: int) -> dict[str, float]:
    """Requests a second that meet both targets."""
    kinds = sum(ttft <= first and tpot <= token for ttft, tpot in REQUESTS)
    return {"answer": kinds * each / seconds, "kinds": kinds}


def in_flight(rate: int, first: int, token: int, tokens: int) -> dict[str, float]:
    """Little's law: rate times the time that a request stays."""
    stay = (first + (tokens - 1) * token) / 1e3
    return {"answer": rate * stay, "others": tokens - 1, "stay": stay}


def longest_gap(step: int, tokens: int, rate: int, chunk: int) -> dict[str, float]:
    """A decode step with a full chunk of prefill in it."""
    piece = min(chunk, tokens) / rate
    return {"answer": step + piece, "piece": piece, "whole": step + tokens / rate}
