"""What a result is worth to a product. Source of the sums: Amdahl, 1967."""


def real_gain(claimed: int, library: int) -> float:
    """Over what is in use."""
    return claimed / library


def request_gain(speedup: float, percent: int) -> dict[str, float]:
    """Per cent by which the whole shrinks."""
    rest = percent / speedup
    return {"answer": percent - rest, "rest": rest}


def gpus_after(gpus: int, change: str) -> dict[str, float | str]:
    """GPUs go by the time of a GPU for each request that is served."""
    if "as long as before" in change:
        return {
            "answer": gpus,
            "why": "Latency improves, but each GPU serves no more requests a second than before",
        }
    return {"answer": gpus / 2, "why": "Each GPU serves twice the requests a second"}


def gain_at_batch(kv: float, batch: int, compute: int) -> dict[str, float]:
    """A step of decoding takes the longer of reading and arithmetic; GB over TB/s are ms."""
    before, after = (14 + kv * batch) / 4, (3.5 + kv * batch) / 4
    return {"answer": max(before, compute) / max(after, compute), "before": before, "after": after}


def payback_weeks(weeks: int, engineers: int, gpus: int, price: int) -> dict[str, float]:
    """Cost over what a week saves."""
    cost, saved = weeks * engineers * 4000, gpus * price * 168
    return {"answer": cost / saved, "cost": cost, "saved": saved}
