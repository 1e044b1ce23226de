"""Counted in the listing."""

from grader.interview.drills.listing import first


def products() -> int:
    """The shape 16 × 8 × 16 of the instruction."""
    return 16 * 8 * 16 if first(__file__, r"HMMA.(16816)") else 0


def bytes() -> int:
    """Bytes of four 8 × 8 matrices of halves."""
    return 4 * 8 * 8 * 2 if first(__file__, r"LDSM.16.M(88.4)") else 0
