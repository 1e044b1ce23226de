"""Counted on the kernel and on its cure."""

from grader.interview.drills.looked_at import prediction


def wavefronts_a_product() -> dict[str, float]:
    """Wavefronts of shared-memory loads for a warp's multiply-add."""
    return prediction(__file__, "shared_load_wavefronts * 32 / (M * N * K)")
