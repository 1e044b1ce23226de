"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def ffma() -> dict[str, float]:
    """FP32 multiply-adds of threads, in millions."""
    return prediction(__file__, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum / 1000000")
