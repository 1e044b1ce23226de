"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def local_requests() -> dict[str, float]:
    """Loads from local memory."""
    return prediction(__file__, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum")
