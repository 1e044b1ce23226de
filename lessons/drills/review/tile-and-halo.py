"""What drill `tile-and-halo` asks for."""


def outputs(block: int, radius: int) -> dict[str, int]:
    """Threads whose last read lies behind a tile of block + radius words, from the indices in the source."""
    tile = block + radius
    return {"answer": sum(t + 2 * radius >= tile for t in range(block)), "last": tile - 1}
