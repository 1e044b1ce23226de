"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def sectors_of_token() -> dict[str, float]:
    """Sectors of loads for each token and query head."""
    return prediction(__file__, "load_sectors / (TOKENS * H)")
