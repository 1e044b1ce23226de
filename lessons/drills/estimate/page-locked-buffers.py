"""Page-locked buffers."""

import math


def batches(step: int, prepare: int, **_: object) -> float:
    """Little's law, rounded up (Little, 1961)."""
    return math.ceil(prepare / step)


def gb(gpus: int, mb: int, step: int, prepare: int) -> dict[str, float]:
    """Buffers of all GPUs; copies that overlap need page-locked memory (Best Practices Guide, Pinned Memory)."""
    buffers = math.ceil(prepare / step) + 1
    return {"answer": gpus * buffers * mb / 1e3, "buffers": buffers}


def rate(gpus: int, mb: int, step: int, **_: object) -> float:
    """Bytes over time."""
    return gpus * mb / step
