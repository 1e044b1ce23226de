"""Work on arrays of millions of elements, on all cores, a piece at a time."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from grader.emulator.machine.cores import usable

Array = np.ndarray[Any, np.dtype[Any]]
Result = TypeVar("Result")

PIECE_BYTES = 1 << 21
PIECE = PIECE_BYTES // 8
"""Elements of a piece: an array of them in double precision stays in the caches of a core, and NumPy computes with it
for some 200 µs, far longer than threads take to hand Python on."""

SHARES = 4
"""So many shares for each core, so that one which is slow does not keep the others waiting for long."""

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_FROM_THE_HEAP, _KEPT = 32 << 20, 256 << 20
"""Arrays of a few pieces come from a thread's own heap, which keeps so many free bytes. Else each is mapped and
unmapped anew, one thread at a time: of 16 threads most would wait."""


@functools.cache
def _keep_what_is_freed() -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other libraries than glibc have their own ways
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _FROM_THE_HEAP)
        mallopt(_TRIM_THRESHOLD, _KEPT)


class _BlasThreads:
    """How many threads a matrix product of OpenBLAS takes: its threads wait for each other in every product, by asking
    again and again. Other libraries than OpenBLAS are left as they are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._unlimited = 0

    @contextmanager
    def at_most(self, threads: int) -> Iterator[None]:
        """While the context lasts, so many, whatever limits others set."""
        with self._lock:
            if not self._limits:
                self._unlimited = _blas("get")()
            self._limits.append(threads)
            self._set()
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(threads)
                self._set()

    def _set(self) -> None:
        _blas("set")(min([self._unlimited, *self._limits]))


blas_threads = _BlasThreads()


@functools.cache
def _blas(verb: str) -> Callable[..., int]:
    """What gets or sets the number of threads of the OpenBLAS that NumPy's wheels bring, or a system's."""
    numpy = ctypes.CDLL(np.linalg._umath_linalg.__file__)
    names = (
        f"{before}openblas_{verb}_num_threads{after}" for before in ("scipy_", "") for after in ("64_", "")
    )
    return next((getattr(numpy, name) for name in names if hasattr(numpy, name)), lambda *_: 0)


def done(work: Callable[[Iterator[slice]], Result], count: int, piece: int) -> list[Result]:
    """`work` done on shares of `count` elements, each in pieces of `piece`; results in their order. While NumPy
    computes, other threads run."""
    if count <= piece:
        return [work(iter((slice(0, count),)))] if count else []
    _keep_what_is_freed()
    cores = usable()
    share = -(-count // (SHARES * cores * piece)) * piece
    shares = (_pieces(start, min(start + share, count), piece) for start in range(0, count, share))
    with blas_threads.at_most(1), ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, shares))


def _pieces(start: int, end: int, piece: int) -> Iterator[slice]:
    return (slice(at, min(at + piece, end)) for at in range(start, end, piece))


def copy(into: Array, array: Array) -> None:
    """Copy an array of one dimension into another."""

    def copy_parts(parts: Iterator[slice]) -> None:
        for part in parts:
            into[part] = array[part]

    done(copy_parts, len(into), PIECE_BYTES // into.itemsize)


def copied(array: Array) -> Array:
    """A copy of an array of one dimension."""
    into = np.empty_like(array)
    copy(into, array)
    return into


def equal(one: Array, other: Array) -> bool:
    """Whether two arrays of one dimension and as many elements are equal."""
    return all(
        done(
            lambda parts: all(np.array_equal(one[part], other[part]) for part in parts),
            len(one),
            PIECE_BYTES // one.itemsize,
        )
    )
