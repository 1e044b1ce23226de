"""Days of a training run."""


def zettaflop(billion: int, tokens: int, **_: object) -> float:
    """6ND: two FLOP forward, four backward (Kaplan et al., 2020, section 2.1)."""
    return 6 * billion * tokens * 1e18 / 1e21


def _days(billion, tokens, gpus, percent):
    return 6 * billion * tokens * 1e18 / (gpus * 989e12 * percent / 100) / 86400


def days(billion: int, tokens: int, gpus: int, percent: int) -> dict[str, float]:
    """FLOP over what is used of the peak (MFU, Chowdhery et al., 2022, appendix B)."""
    rate = gpus * 0.989 * percent / 100
    return {"answer": _days(billion, tokens, gpus, percent), "work": 6 * billion * tokens / 1e3, "rate": rate}


def gpu_hours(billion: int, tokens: int, gpus: int, percent: int) -> dict[str, float]:
    """Days times GPUs."""
    found = _days(billion, tokens, gpus, percent)
    return {"answer": found * 24 * gpus / 1e3, "days": found}
