"""What drill `producers-and-consumers` asks for."""


def count(producers: int, consumers: int) -> int:
    """Threads of all warps that take part."""
    return 32 * (producers + consumers)
