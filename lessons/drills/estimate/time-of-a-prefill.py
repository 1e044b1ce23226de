"""Time of a prefill."""


def tflop(billion: int, tokens: int, **_: object) -> float:
    """2N FLOP a token (Kaplan et al., 2020, section 2.1)."""
    return 2 * billion * tokens / 1e3


def ms(billion: int, tokens: int, gpus: int, percent: int) -> dict[str, float]:
    """FLOP over what is reached of the peak."""
    work, rate = 2 * billion * tokens / 1e3, gpus * 989 * percent / 100
    return {"answer": 1e3 * work / rate, "work": work, "rate": rate}
