"""What drill `rows-with-a-pitch` asks for."""

PITCH = 512


def rows_inside(rows: int) -> int:
    """Rows whose first byte is inside, where a row begins every 4 * PITCH bytes."""
    return sum(4 * PITCH * row < rows * PITCH for row in range(rows))
