"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def store_sectors() -> dict[str, float]:
    """Sectors of global stores."""
    return prediction(__file__, "store_sectors")
