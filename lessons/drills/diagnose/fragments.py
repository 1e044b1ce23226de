"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def wavefronts() -> dict[str, float]:
    """Wavefronts for loading a fragment: all but those of the sums on their way to C."""
    return prediction(
        __file__, "(shared_load_wavefronts - M * N / 32) / smsp__sass_inst_executed_op_ldsm.sum"
    )
