"""Overlap in chunks."""


def serial(copy: int, kernel: int, **_: object) -> float:
    """The sum of the stages."""
    return 2 * copy + kernel


def overlapped(copy: int, kernel: int, chunks: int) -> dict[str, float]:
    """A pipeline: one chunk through all stages, the others behind the slowest (Harris, 2012)."""
    first, slowest = (2 * copy + kernel) / chunks, max(copy, kernel) / chunks
    return {
        "answer": first + (chunks - 1) * slowest,
        "first": first,
        "others": chunks - 1,
        "slowest": slowest,
    }


def limit(copy: int, kernel: int, **_: object) -> float:
    """The slowest stage."""
    return max(copy, kernel)
