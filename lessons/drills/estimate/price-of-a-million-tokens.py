"""The price of a million tokens."""


def _full(cents, gpus, rate):
    return cents / 100 * gpus / (rate * 3600 / 1e6)


def full(cents: int, gpus: int, rate: int, **_: object) -> dict[str, float]:
    """Cost of an hour over its tokens (Pope et al., 2022, cost in chip-seconds a token)."""
    return {"answer": _full(cents, gpus, rate), "hour": cents / 100 * gpus, "million": rate * 3600 / 1e6}


def average(cents: int, gpus: int, rate: int, percent: int, **_: object) -> dict[str, float]:
    """Idle GPUs cost as much."""
    return _full(cents, gpus, rate) / (percent / 100)


def prompts(cents: int, gpus: int, rate: int, ratio: int, part: float, **_: object) -> dict[str, float]:
    """Time of an output token and of its share of the prompt."""
    return _full(cents, gpus, rate) * (1 + ratio * part)
