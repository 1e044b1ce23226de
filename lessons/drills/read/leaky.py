"""Counted in the listing."""

from grader.interview.drills.listing import count


def branches() -> int:
    """Branches."""
    return count(__file__, r"\\bBRA\\b")
