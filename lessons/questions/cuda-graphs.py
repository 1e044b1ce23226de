"""Probes of cuda-graphs: launches against kernels, frozen values, padding and paths.

Source of the rules: CUDA Programming Guide, "CUDA Graphs".
"""

import math
import re


def step_us(kernels: int, kernel: int, launch: int, graph: int, how: str) -> dict[str, float]:
    """Microseconds of a step: CPU and GPU overlap, and the slower one counts."""
    gpu = kernels * kernel
    cpu = graph if "graph" in how else kernels * launch
    return {"answer": max(gpu, cpu), "gpu": gpu, "cpu": cpu}


def replays_to_pay(once: int, replay: int, apart: int) -> int:
    """Replays after which the time saved exceeds the time spent once."""
    return math.ceil(once / (apart - replay))


def value_after_replays(first: int, second: int, launches: int) -> int:
    """Replays add the value that was captured."""
    return first * launches


def padded_percent(sizes: str, batches: str) -> dict[str, float]:
    """Share of rows that fill batches up to the next captured size."""
    captured, used = _numbers(sizes), _numbers(batches)
    computed = sum(min(size for size in captured if size >= batch) for batch in used)
    return {"answer": 100 * (computed - sum(used)) / computed, "computed": computed, "used": sum(used)}


def longest_path(a: int, b: int, c: int, d: int, e: int) -> dict[str, float]:
    """The longer of the two paths through the graph."""
    upper, lower = a + b + d + e, a + c + e
    return {"answer": max(upper, lower), "upper": upper, "lower": lower}


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]
