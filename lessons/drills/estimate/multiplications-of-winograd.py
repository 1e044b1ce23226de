"""Winograd's multiplications."""


def saving(m: int, r: int) -> float:
    """m²r²/(m + r − 1)² (Lavin and Gray, 2015, section 4.1)."""
    return m**2 * r**2 / (m + r - 1) ** 2


def filter(m: int, r: int) -> float:
    """A filter of r² is transformed to (m + r − 1)² (Lavin and Gray, 2015)."""
    return (m + r - 1) ** 2 / r**2


def overlap(m: int, r: int) -> float:
    """Tiles overlap by r − 1."""
    return (m + r - 1) ** 2 / m**2
