"""Counted in the listing."""

from grader.interview.drills.listing import count


def stored() -> int:
    """Bytes of stores to local memory."""
    return 4 * count(__file__, r"STL")
