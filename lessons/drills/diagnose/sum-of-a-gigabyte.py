"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def blocks() -> dict[str, float]:
    """Blocks of the cure's grid: as many as are resident."""
    return prediction(__file__, "grid_blocks")
