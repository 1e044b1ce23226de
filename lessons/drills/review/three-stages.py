"""What drill `three-stages` asks for."""


def pending(ahead: int) -> int:
    """Groups committed at the wait, less that of the tile that is needed now."""
    committed = 1 + ahead
    return committed - 1
