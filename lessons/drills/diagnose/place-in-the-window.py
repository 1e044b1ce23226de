"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def threads() -> dict[str, float]:
    """Threads an instruction."""
    return prediction(__file__, "smsp__thread_inst_executed.sum / smsp__inst_executed.sum")
