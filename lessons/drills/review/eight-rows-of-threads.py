"""What drill `eight-rows-of-threads` asks for."""


def words() -> int:
    """Words of the tile that the threads of a full block store to, from the index in the source."""
    return len({(y, x) for _ in range(0, 32, 8) for y in range(8) for x in range(32)})
