"""What drill `sums-of-many-rows` asks for."""

BLOCKS = 132  # of the kernel


def barriers_after_mend(M: int, how: str) -> dict[str, object]:
    """Of block 0, which processes every 132nd row: one a row, or two."""
    rows = len(range(0, M, BLOCKS))
    each = 1 if "turns" in how else 2
    return {"answer": each * rows, "rows": rows, "each": {1: "one barrier", 2: "two barriers"}[each]}
