"""Embedding a corpus."""

import math


def _exaflop(million, tokens, mega):
    return 2 * mega * 1e6 * million * 1e6 * tokens / 1e18


def _hours(million, tokens, mega):
    """Hours of one GPU at 40 % of 312 TFLOP/s."""
    return _exaflop(million, tokens, mega) * 1e18 / (0.4 * 312e12) / 3600


def exaflop(million: int, tokens: int, mega: int, **_: object) -> float:
    """2N FLOP a token (Kaplan et al., 2020, section 2.1)."""
    return float(_exaflop(million, tokens, mega))


def gpus(million: int, tokens: int, mega: int, days: int, **_: object) -> dict[str, float]:
    """Hours of one GPU over those there are."""
    hours = _hours(million, tokens, mega)
    return {"answer": math.ceil(hours / (24 * days)), "hours": hours, "work": _exaflop(million, tokens, mega)}


def dollars(million: int, tokens: int, mega: int, **_: object) -> dict[str, float]:
    """Hours times price."""
    hours = _hours(million, tokens, mega)
    return {"answer": hours * 1.5, "hours": hours}


def vectors_gb(million: int, dim: int, **_: object) -> float:
    """Two bytes a number."""
    return million * 2 * dim / 1e3


def saves_most(real: int, **_: object) -> dict[str, object]:
    """The lowest of what is left of the price; a tenth is done again on spot instances."""
    redo = 10
    left = {
        "packing without padding": real,
        "spot instances": 100 * 0.6 / 1.5 * (1 + redo / 100),
        "a network of half the size": 50,
    }
    packed, spot, _half = left.values()
    answer = min(left, key=lambda name: left[name])
    return {"answer": answer, "packed": packed, "spot": spot, "redo": redo}


def wasted(n: int, long: int, short: int) -> dict[str, float]:
    """Padding over padded tokens."""
    used, whole = long + (n - 1) * short, n * long
    return {"answer": 100 * (1 - used / whole), "used": used, "all": whole}


def lost_share(hours: int, minutes: int) -> float:
    """Half a shard is lost on average (as half an interval in Young, 1974)."""
    return 100 * minutes / 2 / (hours * 60)


def cores(kilo: int, each: int) -> float:
    """Rates divided, rounded up."""
    return math.ceil(kilo / each)


def found(percent: float, n: int) -> float:
    """The complement of drawing only good ones."""
    return 100 * (1 - (1 - percent / 100) ** n)
