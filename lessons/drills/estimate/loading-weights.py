"""Loading weights."""


def gb(billion: int, gpus: int, **_: object) -> float:
    """Two bytes a weight."""
    return 2 * billion / gpus


def seconds(billion: int, gpus: int, disk: int, pcie: int) -> dict[str, float]:
    """A pipeline of two stages goes at the pace of the slower (GPUDirect Storage: Overview Guide)."""
    from_disk, over_pcie = 2 * billion / disk, 2 * billion / gpus / pcie
    return {"answer": max(from_disk, over_pcie), "from_disk": from_disk, "over_pcie": over_pcie}


def network(billion: int, servers: int, **_: object) -> dict[str, float]:
    """One link carries everything."""
    return {"answer": servers * 2 * billion / 12.5, "all": 2 * billion}
