"""What drill `two-halves-of-a-buffer` asks for."""


def overlap(floats: int) -> dict[str, int]:
    """Bytes shared by two chunks of so many floats that begin as many bytes apart."""
    nbytes = 4 * floats
    return {"answer": nbytes - floats, "nbytes": nbytes}
