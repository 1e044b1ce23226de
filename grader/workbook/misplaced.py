"""Indices and divisors that a kernel takes by mistake: what reference.py tries on a wrong output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

GROUPS = tuple(1 << power for power in range(11))
"""What an index of a thread or of a lane, or one in a pack, repeats after."""

WARPS = GROUPS[5:]
"""Threads that share a row."""


def other_rows(rows: int) -> Iterator[Places]:
    """Of each row another one: a neighbour, the first one, the first one of a group, the place within a group."""
    row = np.arange(rows)
    for step in GROUPS[:7]:
        yield np.minimum(row ^ step, rows - 1)
        for other in (row + step, row - step, row // (2 * step) * (2 * step), row % step):
            yield np.clip(other, 0, rows - 1)
            yield other % rows


def other_indices(rows: int, columns: int, length: int) -> Iterator[Places]:
    """Of each element of a matrix an index to an array of `length` numbers. One that is too large starts again, is the
    last one, or is 0."""
    row, column = np.arange(rows)[:, None], np.arange(columns) + np.zeros((rows, 1), np.int64)
    place = row * columns + column
    groups = [group for group in GROUPS if group < columns]
    threads = [index % group for group in groups for index in (column, place)]
    packs = [column // group for group in groups[1:]]
    ends = [column + 1, columns - 1 - column]
    for index in (row + 0 * column, column, *ends, place, place // rows, place % rows, *threads, *packs):
        yield index % length
        if np.max(index) >= length:
            yield np.minimum(index, length - 1)
            yield np.where(index < length, index, 0)


def other_divisors(rows: int, columns: int) -> dict[int, str]:
    """Numbers that a sum over a row is divided by in place of `columns`, and what each of them is."""
    named = [
        (rows, "M"),
        (columns - 1, "N - 1"),
        *((threads, "a block's number of threads") for threads in WARPS),
    ]
    named += [(-(-columns // group) * group, "N rounded up") for group in GROUPS[1:]]
    found: dict[int, list[str]] = {}
    for number, name in dict.fromkeys(named):
        if number not in (0, columns):
            found.setdefault(number, []).append(name)
    return {number: f"{number} ({', or '.join(names)})" for number, names in found.items()}
