"""How much more memory this process may touch: far less than the emulated device has."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.emulator.errors import OutOfRoom
from grader.sandbox.memory import free_bytes, memory_bytes

MARGIN = 16
"""Such a part of the memory is left to others, and to what is touched before a launch is stopped."""
LARGE = 64 << 20
"""So many bytes are there without asking, which takes as long as a small launch."""
BESIDE = 4
"""So many times what is allocated may be touched: what memory held before, marks, records of accesses."""
EVERY = 0.02
"""Seconds between two looks while a launch runs. Threads touch a few hundred megabytes in that time."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TOUCHED, _MAPPED = 1, 5
"""Of /proc/self/statm: the pages that this process has touched, and those of its data, touched or not."""


def _pages(which: int) -> int:
    """Bytes; 0 in a confined process, which has a limit of its own."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[which]) * _PAGE
    except OSError:
        return 0


def left() -> int:
    """Bytes that this process may touch beyond those that it has touched."""
    limit = memory_bytes()
    return min(limit - _pages(_TOUCHED), free_bytes()) - limit // MARGIN


def check(nbytes: int) -> None:
    """Raises OutOfRoom where so many bytes more are too many."""
    room = left()
    if nbytes > room:
        raise OutOfRoom("this writes", nbytes, room)
    renew(nbytes)


@dataclass
class Guard:
    """What became of a launch while it was looked at."""

    before: int = 0
    """Bytes that were left when it began."""
    stopped: bool = False


@contextmanager
def guarded(allocated: int, stop: Callable[[], None]) -> Iterator[Guard]:
    """While the context lasts, calls `stop` again and again once no memory is left; it is not looked at where all that
    is `allocated`, in bytes, with what is kept beside it, fits in any case."""
    guard, ended = Guard(), threading.Event()

    def look() -> None:
        while not ended.wait(EVERY):
            if left() < 0:
                guard.stopped = True
                stop()

    if allocated < LARGE:
        yield guard
        return
    if BESIDE * allocated < memory_bytes() // 2:
        yield guard
        renew()
        return
    guard.before = left()
    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield guard
    finally:
        ended.set()
        looking.join()
        renew()


_bounds: list[int] = []
"""The limit of the process's data before it was bounded, while it is."""
_changing = threading.RLock()


@contextmanager
def bounded() -> Iterator[None]:
    """While the context lasts, arrays of a script's own, such as NumPy's, are refused with a MemoryError where they do
    not fit in memory beside what is touched of the device's: else the system ends the process while it fills them."""
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    _bounds.append(soft)
    renew()
    try:
        yield
    finally:
        _limit(_bounds.pop())


def renew(nbytes: int = 0) -> None:
    """Where they are bounded: by what is left now, less so many bytes that are about to be touched. To be called when
    much of the device's memory was touched, or freed."""
    if _bounds:
        with _changing:
            limit = memory_bytes()
            fits = limit - limit // MARGIN - _pages(_TOUCHED) - nbytes
            most = _pages(_MAPPED) + max(fits, LARGE)  # what is small, such as a thread, is always there
            _limit(most if _bounds[-1] == resource.RLIM_INFINITY else min(most, _bounds[-1]))


@contextmanager
def unbounded() -> Iterator[None]:
    """To reserve address space, which is no memory yet, but counts as data."""
    with _changing:
        if _bounds:
            _limit(_bounds[-1])
        try:
            yield
        finally:
            renew()


def _limit(nbytes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (nbytes, hard))
