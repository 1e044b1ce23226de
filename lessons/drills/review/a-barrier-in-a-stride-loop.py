"""What drill `a-barrier-in-a-stride-loop` asks for."""

BLOCK = 256


def left(n: int) -> dict[str, int]:
    """Threads without a number in the last 256 that are begun; n is no multiple of 256."""
    whole, rest = divmod(n, BLOCK)
    return {"answer": BLOCK - rest, "whole": whole, "rest": rest}
