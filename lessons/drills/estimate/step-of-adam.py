"""A step of the optimiser."""


def least_ms(billion: int, bandwidth: int) -> dict[str, float]:
    """2 + 12 bytes read, 12 + 2 written (Kingma and Ba, 2014; Micikevicius et al., 2017) over the bandwidth."""
    return {"answer": 28e3 * billion / bandwidth, "gb": 28 * billion}


def sharded_ms(billion: int, bandwidth: int, n: int) -> float:
    """Each GPU updates 1/n (Rajbhandari et al., 2019)."""
    return 28e3 * billion / bandwidth / n
