"""Fusing element-wise kernels."""


def apart_ms(kernels: int, mega: int, bandwidth: int) -> float:
    """A read and a write each (Best Practices Guide, Effective Bandwidth Calculation)."""
    return kernels * 2 * 4 * mega / bandwidth


def speedup(kernels: int, **_: object) -> float:
    """2k accesses against 2."""
    return kernels
