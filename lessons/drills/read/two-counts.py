"""Counted in the listing."""

from grader.interview.drills.listing import count


def lanes() -> int:
    """Atomics that are made by the one lane of P0."""
    return count(__file__, r"@P0 ATOMG")
