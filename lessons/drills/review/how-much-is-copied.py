"""What drill `how-much-is-copied` asks for."""


def arrived(n: int) -> int:
    """Whole doubles in n bytes."""
    return n // 8
