"""Counted in the listing."""

from grader.interview.drills.listing import count


def sectors() -> int:
    """Sectors of 32 bytes in a warp's load of 16 bytes a lane."""
    return count(__file__, r"LDG.E.128") * 32 * 16 // 32
