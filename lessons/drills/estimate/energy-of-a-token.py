"""Energy of a token."""


def joules(watts: int, rate: int, **_: object) -> float:
    """Power over throughput."""
    return watts / rate


def cents_a_million(watts: int, rate: int, cents: int, **_: object) -> dict[str, float]:
    """3.6 MJ are a kWh."""
    kwh = watts / rate * 1e6 / 3.6e6
    return {"answer": kwh * cents, "kwh": kwh}


def half_busy(watts: int, rate: int, idle: int, **_: object) -> float:
    """Energy of both halves over the tokens of one."""
    return (watts + idle) / rate
