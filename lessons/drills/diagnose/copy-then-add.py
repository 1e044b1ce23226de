"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def load_sectors() -> dict[str, float]:
    """Sectors of global loads."""
    return prediction(__file__, "load_sectors")
