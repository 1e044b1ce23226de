"""What drill `one-adds-for-all` asks for."""

BLOCK = 256


def least(n: int) -> dict[str, int]:
    """The sum of the last block, where every block reads the output before any writes it."""
    blocks = -(-n // BLOCK)
    return {"answer": n - (blocks - 1) * BLOCK, "blocks": blocks}
