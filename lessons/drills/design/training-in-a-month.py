"""Training a 7B model in a month."""

import math


def _work(trillion):
    return 6 * 7e9 * trillion * 1e12


def zettaflop(trillion: int, **_: object) -> dict[str, float]:
    """6ND (Kaplan et al., 2020, section 2.1)."""
    return _work(trillion) / 1e21


def servers(trillion: int, days: int, mfu: int) -> dict[str, float]:
    """FLOP over time and MFU (Chowdhery et al., 2022, appendix B), in whole servers."""
    found = _work(trillion) / (days * 86400 * 989e12 * mfu / 100)
    return {"answer": math.ceil(found / 8), "work": _work(trillion) / 1e21, "gpus": found}


def state_gb(shards: int, **_: object) -> float:
    """4Ψ + 12Ψ/N (Rajbhandari et al., 2019, figure 1)."""
    return 7 * (4 + 12 / shards)


def step_s(trillion: int, days: int, **_: object) -> dict[str, float]:
    """Time over steps."""
    steps = trillion * 1e12 / 4e6
    return {"answer": days * 86400 / steps, "steps": steps}


def checkpoint_s(gbs: int, **_: object) -> float:
    """2 bytes of weights and 12 of state a parameter (Rajbhandari et al., 2019, section 3.1)."""
    return 7 * 14 / gbs


def least_shards(billion: int, gb: int) -> dict[str, float]:
    """4 + 12/n ≤ bytes a parameter, solved for n (Rajbhandari et al., 2019)."""
    room = gb / billion - 4
    return {"answer": math.ceil(12 / room - 1e-9), "room": room}


def exposed(backward: int, buckets: int, reduce: int) -> float:
    """A pipeline of two stages, less the first (Li et al., 2020, section 3.2)."""
    made, sent = backward / buckets, reduce / buckets
    return made + sent + (buckets - 1) * max(made, sent) - backward


def interval_min(save: int, hours: int) -> float:
    """√(2·δ·M) (Young, 1974)."""
    return math.sqrt(2 * save * hours * 3600) / 60


def straggler(n: int, percent: int) -> float:
    """All wait for the slowest."""
    return n * (1 - 1 / (1 + percent / 100))
