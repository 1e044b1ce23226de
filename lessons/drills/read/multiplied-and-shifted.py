"""Counted in the listing."""

from grader.interview.drills.listing import first


def power() -> int:
    """The upper word of 64 bits, and a shift."""
    return 32 + int(first(__file__, r"SHF.R.U32.HI R5, RZ, (0x[0-9a-f]+)"), 16)


def instructions() -> int:
    """Instructions of 16 bytes between load and store."""
    return (
        int(first(__file__, r"([0-9a-f]{4}).*STG"), 16) - int(first(__file__, r"([0-9a-f]{4}).*LDG"), 16)
    ) // 16 - 1
