"""What drill `two-a-thread` asks for."""

BLOCK = 256


def beyond(n: int) -> dict[str, int]:
    """Stores beyond the end, from the indices in the source."""
    start = (n - 1) // (2 * BLOCK) * 2 * BLOCK
    first = range(start, min(start + BLOCK, n))
    return {"answer": sum(i + BLOCK >= n for i in first), "start": start}
