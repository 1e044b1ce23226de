"""Counted in the listing."""

from grader.interview.drills.listing import count, first


def unrolled() -> int:
    """Loads in the loop; there is none outside."""
    return count(__file__, r"LDG")


def turns() -> int:
    """Turns, from the counter's first and last value and its step."""
    return (
        int(first(__file__, r"ISETP.NE.AND P0, PT, R0, (0x[0-9a-f]+)"), 16)
        - int(first(__file__, r"MOV R0, (0x[0-9a-f]+)"), 16)
    ) // int(first(__file__, r"IADD3 R0, R0, (0x[0-9a-f]+)"), 16)
