"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def occupancy_after() -> dict[str, float]:
    """Occupancy in per cent."""
    return prediction(__file__, "100 * occupancy")
