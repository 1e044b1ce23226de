"""Counted in the listing."""

from grader.analysis.access import shared_access
from grader.interview.drills.listing import first


def row() -> int:
    """The factor of the row's index, in floats."""
    return int(first(__file__, r"mul.wide.s32 +%rd12, %r1, ([0-9]+)")) // 4


def wavefronts() -> int:
    """Of a warp that reads a column, by the counting rules of an H200."""
    return len(shared_access([4 * row() * lane for lane in range(32)]).wavefronts)
