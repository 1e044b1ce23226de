"""Counted in the listing."""

from grader.interview.drills.listing import first


def instructions() -> int:
    """Instructions of 16 bytes between the two."""
    return (
        int(first(__file__, r"([0-9a-f]{4}).*STG"), 16) - int(first(__file__, r"([0-9a-f]{4}).*LDG"), 16)
    ) // 16 - 1
