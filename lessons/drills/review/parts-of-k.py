"""What drill `parts-of-k` asks for."""

PARTS = 8


def left_out(k: int) -> dict[str, int]:
    """Terms behind the last part of k // 8."""
    part = k // PARTS
    return {"answer": k - PARTS * part, "part": part, "done": PARTS * part}
