"""Counted in the listing."""

from grader.interview.drills.listing import first


def leaving() -> int:
    """Instructions of 16 bytes up to the first EXIT."""
    return int(first(__file__, r"([0-9a-f]{4}).*@P0 EXIT"), 16) // 16 + 1
