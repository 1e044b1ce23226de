"""Counted in the listing."""

from grader.interview.drills.listing import count


def conversions() -> int:
    """Conversions."""
    return count(__file__, r"F2F")
