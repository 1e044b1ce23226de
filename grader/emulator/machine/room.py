"""How much more memory this process may touch: far less than the emulated device has."""

from __future__ import annotations

import os
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


def left() -> int:
    """Bytes that this process may touch beyond those that it has touched."""
    limit = memory_bytes()
    try:
        ours = int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE
    except OSError:  # a confined process, which has a limit of its own
        ours = 0
    return min(limit - ours, free_bytes()) - limit // MARGIN


def check(nbytes: int) -> None:
    """Raises OutOfRoom where so many bytes more are too many."""
    room = left()
    if nbytes > room:
        raise OutOfRoom("this writes", nbytes, room)


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

    if allocated < LARGE or BESIDE * allocated < memory_bytes() // 2:
        yield guard
        return
    guard.before = left()
    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield guard
    finally:
        ended.set()
        looking.join()
