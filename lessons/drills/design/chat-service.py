"""A chat service of a 70B model."""

import math


def _kib(kv):
    return 2 * 80 * 8 * 128 * kv / 1024


def _decoding(arrivals, output, tpot):
    return arrivals * output * tpot / 1e3


def _cache(kv, arrivals, prompt, output, tpot):
    return _decoding(arrivals, output, tpot) * (prompt + output / 2) * _kib(kv) * 1024 / 1e9


def _prefill(arrivals, prompt):
    return arrivals * prompt * 2 * 70e9 / (0.5 * 1979e12)


def token_kib(kv: int, **_: object) -> float:
    """Keys and values of all layers (Pope et al., 2022)."""
    return float(_kib(kv))


def decoding(arrivals: int, output: int, tpot: int, **_: object) -> float:
    """L = λW (Little, 1961)."""
    return float(_decoding(arrivals, output, tpot))


def cache_gb(kv: int, arrivals: int, prompt: int, output: int, tpot: int) -> dict[str, float]:
    """Sequences times mean tokens times bytes of a token."""
    found = _cache(kv, arrivals, prompt, output, tpot)
    return {"answer": found, "decoding": _decoding(arrivals, output, tpot), "kib": _kib(kv)}


def prefill_share(arrivals: int, prompt: int, **_: object) -> float:
    """2N FLOP a token (Kaplan et al., 2020) over what a GPU reaches."""
    return float(_prefill(arrivals, prompt))


def _servers(kv, arrivals, prompt, output, tpot):
    """By prefill and by cache, of servers of two GPUs and 180 GB of cache."""
    return _prefill(arrivals, prompt) / 2, _cache(kv, arrivals, prompt, output, tpot) / 180


def decides(kv: int, arrivals: int, prompt: int, output: int, tpot: int) -> dict[str, object]:
    """The larger demand."""
    by_prefill, by_cache = _servers(kv, arrivals, prompt, output, tpot)
    answer = "prefill" if by_prefill > by_cache else "the KV cache"
    return {"answer": answer, "by_prefill": by_prefill, "by_cache": by_cache}


def servers(kv: int, arrivals: int, prompt: int, output: int, tpot: int) -> dict[str, float]:
    """The larger demand, in whole servers."""
    by_prefill, by_cache = _servers(kv, arrivals, prompt, output, tpot)
    return {"answer": math.ceil(max(by_prefill, by_cache)), "by_prefill": by_prefill, "by_cache": by_cache}


BANDWIDTH = 9.6  # GB/ms of a server: two H200s
WEIGHTS = 70  # GB


def step_ms(kv: int, arrivals: int, prompt: int, output: int, tpot: int) -> dict[str, float]:
    """Prefill and one decoding step, one after the other, on each of the servers (Agrawal et al., 2023)."""
    by_prefill, by_cache = _servers(kv, arrivals, prompt, output, tpot)
    count = math.ceil(max(by_prefill, by_cache))
    prefill = tpot * by_prefill / count
    read = WEIGHTS + _cache(kv, arrivals, prompt, output, tpot) / count
    return {
        "answer": prefill + read / BANDWIDTH,
        "count": count,
        "prefill": prefill,
        "tokens": arrivals * prompt * tpot / 1e3 / count,
        "read": read,
        "decode": read / BANDWIDTH,
    }


def enough(kv: int, arrivals: int, prompt: int, output: int, tpot: int) -> dict[str, float]:
    """So many that both fit: each reads the weights, and all share the rest."""
    by_prefill, by_cache = _servers(kv, arrivals, prompt, output, tpot)
    weights = WEIGHTS / BANDWIDTH
    shared = tpot * by_prefill + _cache(kv, arrivals, prompt, output, tpot) / BANDWIDTH
    least = shared / (tpot - weights)
    return {"answer": math.ceil(max(least, by_cache)), "weights": weights, "shared": shared, "least": least}


def kept_places(most: int, mean: int) -> float:
    """Reserved over used tokens (Kwon et al., 2023)."""
    return most / mean


def pause(tokens: int, rate: int, step: int) -> dict[str, float]:
    """Time of the prefill over that of a step (Agrawal et al., 2023)."""
    ms = 1e3 * tokens / rate
    return {"answer": ms / step, "ms": ms}


def wait_factor(high: int, low: int) -> float:
    """Time in an M/M/1 system: 1/(μ(1 − ρ)) (any text on queueing; Little, 1961, for L and W)."""
    return (100 - low) / (100 - high)


def load_of_the_rest(n: int, load: int) -> float:
    """The same work by one less."""
    return load * n / (n - 1)
