"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def atomics() -> dict[str, float]:
    """Atomics on global memory."""
    return prediction(__file__, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum")
