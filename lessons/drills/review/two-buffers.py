"""What drill `two-buffers` asks for."""

T = 16


def turns(k: int) -> dict[str, int]:
    """Turns that load a further tile."""
    tiles = -(-k // T)
    return {"answer": tiles - 1, "tiles": tiles}
