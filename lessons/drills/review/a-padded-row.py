"""What drill `a-padded-row` asks for."""


def aligned(floats: int) -> dict[str, int]:
    """Of 32 rows of so many floats, those that begin at a multiple of 16 bytes."""
    nbytes = 4 * floats
    return {"answer": sum(nbytes * row % 16 == 0 for row in range(32)), "nbytes": nbytes}
