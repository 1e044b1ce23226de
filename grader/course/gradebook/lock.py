"""One run at a time: a second one that would write to a course says who is at work."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from grader.errors import WarpladderError

LOCK = "lock"


@contextmanager
def alone(marks: Path, what: str) -> Iterator[None]:
    """Hold the course whose marks lie in `marks`; the operating system lets go of it when this process ends.

    `what`: the command, for others to read. Raises WarpladderError where another process holds it.
    """
    path = marks / LOCK
    try:
        marks.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            remedy = "wait until it has ended, then run this again"
            raise WarpladderError(f"{holder} is at work on this course", file=path, remedy=remedy) from None
        now = datetime.now().astimezone()
        file.truncate(0)
        file.write(
            f"`{what}` (process {os.getpid()} on {socket.gethostname()}, since {now:%Y-%m-%d %H:%M:%S})"
        )
        file.flush()
        yield
