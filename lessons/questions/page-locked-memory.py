"""Copies from pageable and pinned memory. Source: CUDA C++ Best Practices Guide, Data Transfer."""

from math import floor


def who_copies(mb: int, kind: str) -> dict[str, float | str]:
    """Reads and writes of host memory."""
    if kind == "pinned":
        return {"answer": mb, "why": "DMA reads each byte once"}
    return {"answer": 3 * mb, "why": "The CPU reads and writes each byte, then DMA reads it"}


def staged_rate(cpu: int, dma: int, how: str) -> dict[str, float | str]:
    """GB/s of two stages in turn or overlapped."""
    if how.startswith("overlapped"):
        return {"answer": min(cpu, dma), "why": "The slower of the two stages sets the rate"}
    return {"answer": 1 / (1 / cpu + 1 / dma), "why": f"The two times add up: 1 / (1/{cpu} + 1/{dma})"}


def pipeline_ms(chunks: int, copy_in: int, kernel: int, copy_out: int, kind: str) -> dict[str, float | str]:
    """A pipeline of three stages, or all in turn."""
    stages = (copy_in, kernel, copy_out)
    if kind == "pageable":
        return {"answer": chunks * sum(stages), "why": f"Nothing overlaps: {chunks} · {sum(stages)} ms"}
    longest = max(stages)
    why = (
        f"The first chunk takes {sum(stages)} ms, and each further chunk adds the longest stage, {longest} ms"
    )
    return {"answer": sum(stages) + (chunks - 1) * longest, "why": why}


def break_even(mb: int, pin: int, slow: int, fast: int) -> dict[str, float]:
    """The first number of copies with a gain."""
    before, after = mb / slow, mb / fast
    exact = pin / (before - after)
    return {
        "answer": floor(exact) + 1,
        "before": before,
        "after": after,
        "gain": before - after,
        "exact": exact,
    }


def pinned_when(steps: int, copy: int, pin: int, when: str) -> dict[str, float]:
    """Copies, and the price of the buffers."""
    times = steps if "each" in when else 1
    return {"answer": steps * copy + 2 * pin * times, "times": times}
