"""The folder in which compiled code is kept between runs."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """$WARPLADDER_CACHE, or `warpladder` in the user's cache folder (XDG)."""
    if chosen := os.environ.get("WARPLADDER_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpladder"


def write_atomically(path: Path, data: bytes) -> None:
    """Whole or not at all, also with several writers; a read-only or full disk costs time, not the result."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as aside:
            aside.write(data)
        os.replace(aside.name, path)
    except OSError:
        return


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; where the folder cannot be written, everybody goes ahead."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError:
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
