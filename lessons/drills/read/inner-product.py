"""Counted in the listing."""

from grader.interview.drills.listing import count, first


def products() -> int:
    """FFMA in the loop."""
    return count(__file__, r"FFMA")


def unrolled() -> int:
    """The step of the loop's counter."""
    return int(first(__file__, r"IADD3 R2, R2, (0x[0-9a-f]+)"), 16)
