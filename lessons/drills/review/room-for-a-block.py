"""What drill `room-for-a-block` asks for."""


def inside(n: int) -> int:
    """Whole ints in n bytes."""
    return n // 4
