"""Counted in the listing."""

from grader.interview.drills.listing import count


def shuffles() -> int:
    """Shuffles."""
    return count(__file__, r"SHFL")
