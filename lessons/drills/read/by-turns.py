"""Counted in the listing."""

from grader.interview.drills.listing import first


def issued() -> int:
    """Turns of the loop: the counter's last value."""
    return int(first(__file__, r"ISETP.NE.AND P0, PT, R0, (0x[0-9a-f]+)"), 16)
