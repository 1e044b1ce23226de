"""Simulated, of the schedule and of its cure."""

from grader.interview.drills.looked_at import prediction


def engines() -> dict[str, float]:
    """Engines that work at a time, on average."""
    return prediction(__file__, "engines_busy")
