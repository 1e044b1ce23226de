"""Time to the first token, and to the others."""


def _first(queue, prompt, rate):
    return queue + 1e3 * prompt / rate


def ttft_ms(queue: int, prompt: int, rate: int, **_: object) -> float:
    """Queueing and prefill (Zhong et al., 2024, section 2)."""
    return float(_first(queue, prompt, rate))


def total_s(queue: int, prompt: int, rate: int, step: int, output: int) -> dict[str, float]:
    """TTFT and a TPOT for each further token (Zhong et al., 2024)."""
    first = _first(queue, prompt, rate)
    return {"answer": (first + (output - 1) * step) / 1e3, "first": first, "others": output - 1}


def longest_step(
    queue: int, prompt: int, rate: int, output: int, limit: int, **_: object
) -> dict[str, float]:
    """The same, solved for the step."""
    first = _first(queue, prompt, rate)
    return {"answer": (1e3 * limit - first) / (output - 1), "first": first, "others": output - 1}
