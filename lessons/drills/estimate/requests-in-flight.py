"""How many requests are under way."""

import math


def in_flight(arrivals: int, output: int, step: int, before: int, **_: object) -> dict[str, float]:
    """L = λW (Little, 1961)."""
    each = (before + output * step) / 1e3
    return {"answer": arrivals * each, "each": each}


def gpus(arrivals: int, output: int, step: int, batch: int, **_: object) -> dict[str, float]:
    """The same of decoding alone, in batches."""
    decoding = arrivals * output * step / 1e3
    return {"answer": math.ceil(decoding / batch), "decoding": decoding}


def rate(arrivals: int, output: int, **_: object) -> float:
    """In equilibrium as much goes out as is asked for."""
    return arrivals * output
