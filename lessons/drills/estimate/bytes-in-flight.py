"""Bytes in flight."""


def kilobytes(latency: int, bandwidth: int, **_: object) -> float:
    """Little's law: concurrency is latency times throughput (Little, 1961), in KB."""
    return latency * bandwidth / 1e3


def per_sm(latency: int, bandwidth: int, sms: int) -> dict[str, float]:
    """The same, shared evenly."""
    total = latency * bandwidth / 1e3
    return {"answer": total / sms, "total": total}


def threads(latency: int, bandwidth: int, sms: int) -> dict[str, float]:
    """Bytes of an SM over 4 (Volkov, 2016, chapter 4)."""
    each = latency * bandwidth / sms
    return {"answer": each / 4, "each": each}
