"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def wavefronts() -> dict[str, float]:
    """Wavefronts of stores to shared memory."""
    return prediction(__file__, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")
