"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def shared_loads() -> dict[str, float]:
    """Loads from shared memory."""
    return prediction(__file__, "smsp__sass_inst_executed_op_shared_ld.sum")
