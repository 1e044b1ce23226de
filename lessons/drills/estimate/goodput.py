"""Throughput that counts."""


def largest(base: int, slope: float, limit: int) -> float:
    """The step's time, solved for B."""
    return (limit - base) / slope


def goodput(base: int, slope: float, limit: int) -> dict[str, float]:
    """Throughput within the objective (Zhong et al., 2024)."""
    batch = (limit - base) / slope
    return {"answer": 1e3 * batch / limit, "batch": batch}


def share(base: int, slope: float, limit: int) -> dict[str, float]:
    """1/slope is the limit of B/(base + slope·B)."""
    most = 1e3 / slope
    return {"answer": 1e5 * (limit - base) / slope / limit / most, "most": most}
