"""Atomics of a histogram."""


def global_ms(mega: int, bins: int, clocks: int, ghz: float) -> float:
    """Atomics on one address are served one after the other (CUDA C++ Programming Guide, Atomic Functions)."""
    return mega * 1e6 / bins * clocks / (ghz * 1e6)


def flushes(bins: int, blocks: int, **_: object) -> float:
    """Every block adds every bin once."""
    return blocks * bins


def skewed(mega: int, clocks: int, ghz: float, **_: object) -> float:
    """The same for half of the bytes."""
    return mega * 1e6 / 2 * clocks / (ghz * 1e6)
