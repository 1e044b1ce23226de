"""The halo of a stencil."""


def overhead(t: int, r: int) -> float:
    """Tile and halo over tile (Micikevicius, 2009, read redundancy)."""
    return (t + 2 * r) ** 2 / t**2


def kib(t: int, r: int) -> float:
    """Four bytes a point."""
    return 4 * (t + 2 * r) ** 2 / 1024


def twice(t: int, r: int) -> float:
    """Reads with the wider halo and one write, shared by two steps."""
    return ((t + 4 * r) ** 2 / t**2 + 1) / 2
