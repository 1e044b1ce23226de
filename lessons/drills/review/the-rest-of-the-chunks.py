"""What drill `the-rest-of-the-chunks` asks for."""

CHUNK = 1 << 22


def left(millions: int) -> dict[str, int]:
    """Elements behind the last whole chunk."""
    whole, rest = divmod(millions * 1_000_000, CHUNK)
    return {"answer": rest, "whole": whole}
