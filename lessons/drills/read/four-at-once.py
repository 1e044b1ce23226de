"""Counted in the listing."""

from grader.interview.drills.listing import count


def bytes() -> int:
    """Bytes of vectors of four floats."""
    return 16 * count(__file__, r"[.]v4[.]f32")


def requests() -> int:
    """Requests of warps whose lanes take four floats."""
    return count(__file__, r"ld.global.nc.v4") * 2**20 // (4 * 32)
