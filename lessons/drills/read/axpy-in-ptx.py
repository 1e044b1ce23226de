"""Counted in the listing."""

from grader.interview.drills.listing import count


def bytes_loaded() -> int:
    """Bytes of a thread's loads, a float each."""
    return 4 * count(__file__, r"ld.global")


def flop() -> int:
    """Operations of a thread."""
    return 2 * count(__file__, r"fma.rn")
