"""Folders for as long as a process lives. Those of one that was killed are removed by the next that makes some.

A folder is locked by who made it, and the system takes that lock back when the process ends, however it ends: what can
be locked belongs to nobody any more. Where a file system has no locks, what a killed process leaves stays.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PREFIX = "warpladder-scratch-"
_OURS = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")
"""As `mkdtemp` calls them: nothing else is ever removed."""


class Scratch:
    """An empty folder, until it is closed. `base`: in which it is made; None: where temporary ones are.

    Raises OSError where none can be made.
    """

    def __init__(self, base: Path | None = None) -> None:
        base = base or Path(tempfile.gettempdir())
        _sweep_once(base)
        self.path, lock = _made(base)
        self._lock: int | None = lock

    def close(self) -> None:
        """Remove it, as far as that is possible, with all that lies in it."""
        if self._lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _made(base: Path) -> tuple[Path, int]:
    """A new folder and the descriptor that holds its lock; another one where somebody who sweeps was faster."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        try:
            lock = _open(path)
        except FileNotFoundError:
            continue
        with suppress(OSError):  # there are no locks here; who sweeps holds it for as long as removing takes
            fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path, lock
        os.close(lock)


def _open(path: Path) -> int:
    """A folder's descriptor. Raises OSError where it is no folder, or not there any more."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


@functools.cache
def _sweep_once(base: Path) -> None:
    """In each process once for each place: who is killed while this one lives, the next one will find."""
    sweep(base)


def sweep(base: Path) -> None:
    """Remove the folders of ours in `base` whose process has ended."""
    with suppress(OSError), os.scandir(base) as entries:
        found = [Path(entry.path) for entry in entries if _OURS.fullmatch(entry.name)]
        for path in found:
            with suppress(OSError):
                _remove_ended(path)


def _remove_ended(path: Path) -> None:
    """Remove a folder. Raises OSError where somebody has it, and for what is no folder."""
    lock = _open(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
