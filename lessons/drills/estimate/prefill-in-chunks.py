"""Chunks of a prefill."""

import math


def pause_ms(prompt: int, rate: int, **_: object) -> float:
    """Decoding waits for the whole prefill (Agrawal et al., 2023)."""
    return 1e3 * prompt / rate


def mixed_ms(step: int, rate: int, chunk: int, **_: object) -> float:
    """A decoding step with a chunk in it (Agrawal et al., 2023, section 4)."""
    return step + 1e3 * chunk / rate


def ttft_ms(step: int, prompt: int, rate: int, chunk: int, **_: object) -> dict[str, float]:
    """Chunks, rounded up, times the mixed step."""
    count, each = math.ceil(prompt / chunk), step + 1e3 * chunk / rate
    return {"answer": count * each, "count": count, "each": each}
