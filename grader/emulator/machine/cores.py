"""The cores of this computer, which the emulators that run at the same time share out among themselves."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Cores:
    """`count` cores. With a file, `descriptor`, all processes that have it share them: whoever has a core has locked
    the byte of its number. The system takes the locks of a process back when it ends, however it ends."""

    def __init__(self, count: int, descriptor: int | None = None) -> None:
        self.count = count
        self._descriptor = descriptor
        self._held: set[int] = set()

    @contextmanager
    def idle(self, most: int) -> Iterator[int]:
        """At most so many cores that nobody has, taken while the context lasts: how many. It waits for none."""
        taken: list[int] = []
        for core in range(self.count):
            if len(taken) >= most:
                break
            if core not in self._held and self._take(core):
                taken.append(core)
        self._held.update(taken)
        try:
            yield len(taken)
        finally:
            self._held.difference_update(taken)
            for core in taken:
                self._give_back(core)

    def _take(self, core: int) -> bool:
        if self._descriptor is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, core)
        except OSError:  # somebody has it
            return False
        return True

    def _give_back(self, core: int) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, core)


def usable() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0))
