"""Counted in the listing."""

from grader.interview.drills.listing import count


def loaded() -> int:
    """Sectors of a warp's load of a float a lane."""
    return count(__file__, r"LDG") * 32 * 4 // 32
