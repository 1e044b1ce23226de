"""A copy over PCIe."""


def pinned_ms(mb: int, pinned: int, **_: object) -> float:
    """Bytes over bandwidth (Harris, 2012)."""
    return mb / pinned


def saved_ms(mb: int, pinned: int, pageable: int, **_: object) -> dict[str, float]:
    """The difference of both times (Harris, 2012)."""
    slow, fast = mb / pageable, mb / pinned
    return {"answer": slow - fast, "slow": slow, "fast": fast}


def ratio(pinned: int, dram: int, **_: object) -> float:
    """The same bytes at two bandwidths."""
    return dram / pinned
