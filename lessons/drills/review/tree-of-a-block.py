"""What drill `tree-of-a-block` asks for."""

WARP = 32


def first_race() -> int:
    """Levels of a tree of 256 in which more than 32 threads add."""
    return sum(half > WARP for half in (128, 64, 32, 16, 8, 4, 2, 1))
