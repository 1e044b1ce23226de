"""What drill `warps-of-a-query` asks for."""


def output_written(small: int, large: int, value: int) -> float:
    """Sums of two pages, of which one weighs less, over totals that both count in full."""
    return (small / large + 1) * 16 * value / 32
