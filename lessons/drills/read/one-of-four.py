"""Counted in the listing."""

from grader.interview.drills.listing import count


def local_bytes() -> int:
    """Bytes of the vector that is stored."""
    return 16 * count(__file__, r"st.local.v4")
