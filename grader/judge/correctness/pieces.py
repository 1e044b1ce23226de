"""Work on arrays of millions of elements, on all cores, a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from grader.emulator.machine.cores import usable

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")

PIECE = 1 << 15
"""Elements of a piece: four arrays of them in double precision, 1 MB, stay in the caches of a core."""

SHARES = 4
"""So many shares for each core, so that one which is slow does not keep the others waiting for long."""


def done(work: Callable[[slice], Result], count: int, piece: int) -> list[Result]:
    """`work` done on all of `count` elements, `piece` of them at a time; results in their order. While NumPy computes,
    other threads run."""
    pieces = -(-count // piece)
    if pieces < 2:
        return [work(slice(0, count))] if count else []
    cores = usable()
    share = -(-pieces // (SHARES * cores)) * piece

    def one(start: int) -> list[Result]:
        return [work(part) for part in _pieces(start, min(start + share, count), piece)]

    with ThreadPoolExecutor(cores) as pool:
        return [result for results in pool.map(one, range(0, count, share)) for result in results]


def _pieces(start: int, end: int, piece: int) -> Iterator[slice]:
    return (slice(at, min(at + piece, end)) for at in range(start, end, piece))


def copied(array: Array) -> Array:
    """A copy of an array of one dimension."""
    copy = np.empty_like(array)

    def copy_part(part: slice) -> None:
        copy[part] = array[part]

    done(copy_part, len(array), PIECE)
    return copy
