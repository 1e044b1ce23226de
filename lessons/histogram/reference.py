"""The histogram of N bytes: inputs, the answer, and what no algorithm can do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.uint8]
Exact = NDArray[np.float64]
Places = NDArray[np.int64]
Read = Callable[[str, Places], Exact]

BINS = 256
STRETCH = 4096
"""Bytes of a picture's area of like shades."""

PERIODS = (16, 512, 4096)
"""Bytes of a period."""

PIXELS = (2, 3, 4, 8)
"""Bytes of a pixel, in an area of one colour."""

SHADES = tuple((1 << power) + more for power in range(1, 8) for more in (0, 1))
"""Different bytes, neighbours of each other, in an area: as many as there may be places for, and one more."""

CHUNK = 1 << 22
"""Bytes that are counted at once: bounds the memory that counting needs to some tens of megabytes."""


def make_inputs(
    problem: Mapping[str, int], rng: np.random.Generator, kind: Literal["exact", "real"]
) -> dict[str, Array]:
    """in (N), uint8.

    "exact": every byte equally often. Where N is one more than a multiple of 4, they come again and again in a period
    of 16, or of as many bytes as a thread may go on by.
    "real": as in a picture. The first half is its sky, a single byte, which is from 0 to 3 where N is odd; then come
    stretches of bytes that are distributed normally, each about a byte of its own; one in four has a single colour,
    whose pixels have several bytes, and two in four have SHADES, as many different bytes as each of these numbers in
    turn.
    """
    n = problem["N"]
    if kind == "exact":
        period = int(rng.choice(PERIODS)) if n % 4 == 1 else n
        return {"in": np.resize(rng.integers(0, BINS, min(n, period), dtype=np.uint8), n)}
    centres = np.repeat(rng.integers(0, BINS, -(-n // STRETCH), dtype=np.uint8), STRETCH)[:n]
    shades = np.rint(6 * rng.standard_normal(n, dtype=np.float32)).astype(np.int8).view(np.uint8)
    picture = centres + shades  # modulo 256
    shades = cycle(rng.permutation(SHADES))
    for stretch in range(n // 2 // STRETCH, -(-n // STRETCH)):
        area = picture[stretch * STRETCH : (stretch + 1) * STRETCH]
        if stretch % 4 == 0:
            area[:] = np.resize(rng.integers(0, BINS, rng.choice(PIXELS), dtype=np.uint8), len(area))
        elif stretch % 2:
            count = next(shades)
            area[:] = rng.integers(BINS - count + 1) + rng.integers(0, count, len(area))
    picture[: n // 2] = rng.integers(4) if n % 2 else picture[0]
    return {"in": picture}


def reference(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """bins (256), float64: how often each byte is there."""
    parts = (inputs["in"][start : start + CHUNK] for start in range(0, problem["N"], CHUNK))
    return {"bins": sum(map(_counts, parts), np.zeros(BINS))}


def _counts(part: Array) -> Exact:
    """How often each byte is in a part. They are sorted, since np.bincount holds Python's lock: of several threads one
    would count at a time."""
    ordered = np.sort(part, kind="stable")
    ends = np.searchsorted(ordered, np.arange(BINS, dtype=np.uint8), side="right")
    return np.diff(ends, prepend=0).astype(np.float64)


def magnitude(inputs: Mapping[str, Array], problem: Mapping[str, int]) -> dict[str, Exact]:
    """The counts themselves: all terms are ones."""
    return reference(inputs, problem)


def shapes(problem: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Every array, without making it."""
    return {"in": (problem["N"],), "bins": (BINS,)}


def elements(read: Read, problem: Mapping[str, int], name: str, places: Places) -> tuple[Exact, Exact]:
    """Single elements of an output and their magnitudes; `read` gives elements of an input. Places count from the
    start of an array."""
    n, counts = problem["N"], np.zeros(BINS)
    for start in range(0, n, CHUNK):
        part = read("in", np.arange(start, min(start + CHUNK, n)))
        counts += np.bincount(part.astype(np.uint8), minlength=BINS)
    return counts[places], counts[places]


def min_flop(problem: Mapping[str, int]) -> int:
    """None: it counts in integers."""
    return 0


def min_bytes(problem: Mapping[str, int]) -> int:
    """Every byte read once, 256 counts of 4 bytes written."""
    return problem["N"] + 4 * BINS


def written_bytes(problem: Mapping[str, int]) -> int:
    """The counts."""
    return 4 * BINS
