"""Values that sums and products are tried on beside usual ones: what reference.py puts into special inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECES = tuple(32 << power for power in range(8))
"""Elements of a piece that has its own share of numbers: a warp has 32, and tiles have up to 4096."""

SHARES = (256, 64, 8, 1, 0)
"""Of 256 elements of a piece, so many stay as they are; all others are alike."""

ALIKE = (0, 0, 1)
"""What they may be. However many ones follow each other, their sum is not rounded as long as floats count it."""

MOST_IN_PIECES = 1 << 22
"""Of numbers that are in pieces: the sum of so many is one that floats count."""

SMALL = 31
"""Of whole numbers: products of two of them are exact in halves."""

ENDS = (8, 16, 128, 256)
"""Beyond signed and unsigned numbers of 4 and 8 bits."""

SAME_SIGN = 4096
"""Whole numbers of one sign in a row."""

MANY = 1 << 16
"""Of more whole numbers than these, each is large."""

STRETCH = 32
"""Zeros side by side: wherever it begins, they fill a pack of 16 elements, or several smaller ones."""

TILE = 32
"""Rows and columns of a tile that is zero as a whole."""

END = 9
"""Columns at the end of a row, of which one is chosen."""

NOT_FINITE = ((np.nan,), (np.inf,), (-np.inf,), (np.inf, -np.inf))


def place(count: int, rng: np.random.Generator) -> int:
    """One of so many places: any, or as often the last, which an index that is clamped at the end takes once more."""
    return int(rng.integers(count)) if rng.integers(2) else count - 1


def alike_in_pieces(values: NDArray[Any], rng: np.random.Generator) -> None:
    """Leave, in place, only some numbers among elements that are all 0 or all 1: in each piece another share, from all
    of them to none. What looks at some elements of a warp or a tile does not know the others. Arrays of no more than
    one piece, or of more than MOST_IN_PIECES elements, stay as they are."""
    if not max(PIECES) < len(values) <= MOST_IN_PIECES:
        return
    piece = int(rng.choice(PIECES))
    shares, alike = (
        np.repeat(rng.choice(np.array(of, np.int16), -(-len(values) // piece)), piece)[: len(values)]
        for of in (SHARES, ALIKE)
    )
    np.copyto(values, alike, where=rng.integers(0, 256, len(values), np.uint8) >= shares)


def of_a_factor(lines: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Make of some `lines`, in place, what a product might take a shorter way for, whatever the other factor has: small
    whole numbers of one in six, ones of another, and of a third zeros but for a few numbers."""
    kinds = rng.integers(0, 6, len(lines))
    whole, few = kinds == 0, kinds == 1
    lines[whole] = np.rint(4 * lines[whole]).clip(-SMALL, SMALL)
    lines[few] *= rng.integers(0, 32, lines[few].shape) == 0
    lines[kinds == 2] = 1


def ends_of_types(lines: NDArray[Any], rng: np.random.Generator) -> None:
    """Make of one line in four, in place, whole numbers next to an end of a small type, on both sides of 0."""
    chosen = np.flatnonzero(rng.integers(0, 4, len(lines)) == 0)
    ends = rng.choice(ENDS, (len(chosen), 1))
    signs = rng.choice([-1, 1], (len(chosen), lines.shape[1]))
    lines[chosen] = signs * ends - rng.integers(0, 2, signs.shape)


def mask_of_lines(lines: NDArray[Any], rng: np.random.Generator) -> None:
    """Make of the second half of all lines, in place, a mask of zeros and ones: whole tiles of one factor have nothing
    else, and the other factor has any numbers."""
    masked = lines[len(lines) // 2 :]
    masked[:] = rng.integers(0, 2, masked.shape)


def whole_numbers(count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Whole numbers from -8 to 8 without 0, whose sums are exact in any order; those of a stretch are positive. Of many
    numbers, each is as often 2^21: up to 2^24, where floats end to count, and the sums beyond what an int holds."""
    values = rng.integers(1, 9, count, dtype=np.int8)
    values *= 2 * rng.integers(0, 2, count, dtype=np.int8) - 1
    first = rng.integers(max(1, count - SAME_SIGN + 1))
    np.abs(values[first : first + SAME_SIGN], out=values[first : first + SAME_SIGN])
    return values * np.float32(1 << 21 if count > MANY else 1)


def of_a_sum(values: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Change the numbers of one sum in place, by the remainder of their count by 3: to sizes from 2^-100 to 2^100; to
    have NaN, an infinity, or infinities of both signs among them, whose sum is what IEEE 754 says; to subnormals and
    zeros alone, whose sum is exact."""
    count = len(values)
    if count % 3 == 0:
        values *= np.exp2(rng.integers(-100, 101, count, dtype=np.int8), dtype=np.float32)
    elif count % 3 == 1:
        chosen = NOT_FINITE[count % 4][:count]
        values[rng.choice(count, len(chosen), replace=False)] = chosen
    else:
        values[:] = rng.integers(-8, 9, count) * np.finfo(np.float32).smallest_subnormal


def zeros_in(lines: NDArray[Any], rng: np.random.Generator) -> int:
    """Make zeros of a stretch of all `lines`, the same in each, and return a place in it. What a factor there is
    multiplied with has to be seen: 0 times NaN or an infinity is NaN."""
    count = lines.shape[1]
    first = int(rng.integers(max(1, count - STRETCH + 1)))
    lines[:, first : first + STRETCH] = 0
    return first + int(rng.integers(min(STRETCH, count)))


def beside_zeros(a: NDArray[Any], b: NDArray[Any], rng: np.random.Generator) -> None:
    """Of a product a · b, make a stretch of a row of a zero, and what one of them meets in a column of b NaN or
    infinite, where there are a row and a column that were finite."""
    rows, columns = _finite(a), _finite(b.T)
    if len(rows) and len(columns):
        row = rng.choice(rows)
        place = zeros_in(a[row : row + 1], rng)
        b[place, rng.choice(columns)] = rng.choice([np.nan, np.inf, -np.inf])


def beside_tiles_of_zeros(a: NDArray[Any], b: NDArray[Any], rng: np.random.Generator) -> None:
    """The same with zeros in neighbouring rows, and an infinity: whole tiles of TILE × TILE elements are zero, wherever
    tiles begin, and what they meet is neither finite nor NaN. Factors with a side of fewer than 2 TILE stay."""
    rows, columns = _finite(a), _finite(b.T)
    if min(a.shape) >= 2 * TILE and len(rows) and len(columns):
        row, place = rng.choice(rows), rng.integers(a.shape[1])
        around = (slice(max(0, at - TILE + 1), at + TILE) for at in (row, place))
        a[tuple(around)] = 0
        b[place, rng.choice(columns)] = rng.choice([np.inf, -np.inf])


def _finite(lines: NDArray[Any]) -> NDArray[np.int64]:
    """The lines without NaN and infinities."""
    return np.flatnonzero(np.isfinite(lines).all(axis=1))


def near_the_end(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For every other row, the second one first, one of its last END columns; for the others -1, which is none."""
    ends = columns - 1 - rng.integers(0, min(END, columns), rows)
    ends[::2] = -1
    return ends


def places_in_rows(
    counts: NDArray[np.int64], ends: NDArray[np.int64], columns: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of elements: counts[row] different ones of each row, row by row, and in random order in each.
    If a row has any, and an end, that is one of them, the first unless it was drawn. All rows are drawn at once, an
    element of each at a time, by R. W. Floyd's sampling ("A sample of brilliance", 1987)."""
    most, rows = int(counts.max()), np.arange(len(counts))
    drawn = np.empty((most, len(rows)), np.int64)
    for index, last in enumerate(range(columns - most, columns)):
        place = rng.integers(0, last + 1, len(rows))
        drawn[index] = np.where((drawn[:index] == place).any(axis=0), last, place)
    places = rng.permuted(drawn.T, axis=1)
    chosen = np.arange(most) < counts[:, None]
    lacking = rows[(ends >= 0) & ~((places == ends[:, None]) & chosen).any(axis=1) & (counts > 0)]
    places[lacking, :1] = ends[lacking, None]
    return np.repeat(rows, counts), places[chosen]
