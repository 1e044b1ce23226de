"""When a GPU is worth the way."""

import math


def once(cpu: int, gpu: int, link: int, mb: int) -> dict[str, float]:
    """Copy and kernel, one after the other (Best Practices Guide, Data Transfer Between Host and Device)."""
    return {"answer": mb / link + mb / gpu, "cpu_ms": mb / cpu}


def passes(cpu: int, gpu: int, link: int) -> dict[str, float]:
    """The least n with 1/link + n/gpu < n/cpu."""
    exact = (1 / link) / (1 / cpu - 1 / gpu)
    return {"answer": math.floor(exact + 1e-9) + 1, "exact": exact}
