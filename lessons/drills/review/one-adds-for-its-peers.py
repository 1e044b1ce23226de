"""What drill `one-adds-for-its-peers` asks for."""


def counted(n: int) -> int:
    """Bytes in warps that have a lane 1: all, but for a last warp of one byte."""
    return n - (n % 32 == 1)
