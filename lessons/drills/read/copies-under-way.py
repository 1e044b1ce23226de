"""Counted in the listing."""

from grader.interview.drills.listing import count


def never() -> int:
    """Instructions under a predicate that never holds."""
    return count(__file__, r"@!PT")
