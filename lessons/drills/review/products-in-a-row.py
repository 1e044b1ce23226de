"""What drill `products-in-a-row` asks for."""


def power(times: int) -> int:
    """Products in the buffer that is not the newest."""
    return times - 1
