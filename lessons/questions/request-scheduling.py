"""Probes of scheduling: batches, queues, slots, caches, orders.

Source of the queueing formulas: Kleinrock, Queueing Systems, 1975.
"""

from heapq import heapify, heapreplace
from itertools import accumulate

CHUNK = 512  # tokens, as the question says


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def largest_batch(fixed: float, each: float, gap: float, goal: float) -> int:
    """The largest B with gap·(B − 1) + fixed + each·B ≤ goal."""
    return int((goal - fixed + gap) / (gap + each) + 1e-9)


def rate_of_batch(fixed: float, each: float, batch: int) -> dict[str, float]:
    """Requests a second with a batch over those without."""
    one, every = fixed + each, fixed + each * batch
    return {"answer": batch * one / every, "one": one, "all": every, "most": one / each}


def mean_wait(rate: float, service: float, kind: str) -> dict[str, float | str]:
    """Milliseconds in the queue: ρ/(1 − ρ)·s for M/M/1, half of it for M/D/1 (Pollaczek-Khinchine)."""
    load = rate * service / 1e3
    wait = load / (1 - load) * service
    if kind == "each":
        return {
            "answer": wait / 2,
            "load": load,
            "why": "with equal service times, the mean wait is half of ρ/(1 − ρ) service times",
        }
    return {"answer": wait, "load": load, "why": "the mean wait is ρ/(1 − ρ) service times"}


def growth(low: int, high: int) -> dict[str, float]:
    """Mean time in an M/M/1 system, s/(1 − ρ), at one load over that at another."""
    before, after = 1 - low / 100, 1 - high / 100
    return {"answer": before / after, "before": before, "after": after, "more": high / low}


def steps_needed(lengths: str, slots: int, how: str) -> dict[str, float | str]:
    """Steps of both kinds of batching, first come, first served (Yu et al., 2022)."""
    tokens = _numbers(lengths)
    longest = [max(tokens[first : first + slots]) for first in range(0, len(tokens), slots)]
    static = sum(longest)
    free = [0] * slots
    heapify(free)
    for length in tokens:
        heapreplace(free, free[0] + length)
    if how.startswith("static"):
        why = f"Each batch takes as long as its longest sequence: {' + '.join(str(length) for length in longest)}"
        return {"answer": static, "why": why, "other": max(free), "other_how": "continuous batching"}
    why = "A sequence begins as soon as a slot is free"
    return {"answer": max(free), "why": why, "other": static, "other_how": "static batching"}


def slots_used(lengths: str) -> dict[str, float]:
    """Per cent of slots and steps in which a token was made."""
    tokens = _numbers(lengths)
    total, steps, slots = sum(tokens), max(tokens), len(tokens)
    return {"answer": 100 * total / (steps * slots), "total": total, "steps": steps, "slots": slots}


def admitted(free: int, kilobytes: int, used: int, longest: int, what: str) -> dict[str, float]:
    """Sequences whose KV cache fits."""
    tokens = longest if "most" in what else used
    return {
        "answer": free * 10**6 // (tokens * kilobytes),
        "each": tokens * kilobytes / 1e6,
    }


def stall(rate: int, decode: float, prompt: int, how: str) -> dict[str, float]:
    """Milliseconds of the longest step while a prompt is worked through."""
    tokens = prompt if "whole" in how else CHUNK
    prefill = 1e3 * tokens / rate
    return {"answer": prefill + decode, "tokens": tokens, "prefill": prefill}


def mean_completion(lengths: str, order: str) -> dict[str, float | str]:
    """Mean time to completion of requests served one after the other."""
    times = _numbers(lengths)
    done = list(accumulate(sorted(times) if "shortest" in order else times))
    return {"answer": sum(done) / len(done), "done": ", ".join(str(time) for time in done)}


def in_time(capacity: float, rate: float, limit: float) -> dict[str, float]:
    """Seconds until the queue of a server that is overloaded is as long as clients wait."""
    excess = rate - capacity
    return {"answer": limit * capacity / excess, "excess": excess}
