"""The processes below this one: what they take, and whether any of them stays behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SUBREAPER = 36  # prctl's
_TICKS = os.sysconf("SC_CLK_TCK")
_PERIOD_S = 0.02


def descendants(pid: int) -> dict[int, int]:
    """Processes below one, by the kernel's lists: each with how many steps it is below, from 1."""
    found: dict[int, int] = {}
    for child in _children(pid):
        found |= {child: 1, **{other: steps + 1 for other, steps in descendants(child).items()}}
    return found


def _children(pid: int) -> list[int]:
    """Those of all its threads; none of one that has ended, which may happen while it is looked at."""
    tasks = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        return [
            int(child)
            for task in os.listdir(tasks)
            for child in Path(f"{tasks}/{task}/children").read_text().split()
        ]
    return []


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended and is not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def adopting() -> Iterator[None]:
    """Whoever below this process loses its parent becomes a child of this one's."""
    libc = ctypes.CDLL(None)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)


def left(before: Collection[int], seconds: float = 2.0) -> list[str]:
    """What still runs below this process after so many seconds: its command lines. What ran before does not count, nor
    what that has started since, as a browser does."""
    deadline = time.monotonic() + seconds
    while found := [pid for pid in _newcomers(before) if alive(pid)]:
        if time.monotonic() > deadline:
            return [command(pid) for pid in found]
        time.sleep(0.05)
    return []


def _newcomers(before: Collection[int]) -> list[int]:
    new = [child for child in _children(os.getpid()) if child not in before]
    return [pid for child in new for pid in (child, *descendants(child))]


def command(pid: int) -> str:
    """A process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


@dataclass
class Spent:
    """What a step took."""

    cpu_s: float = 0.0  # of all processes below this one
    wall_s: float = 0.0


def watched(runs: Callable[[], bool]) -> Spent:
    """The time that is spent below this process for as long as something runs.

    Processes are looked at 50 times a second, and the last time that each was seen with counts. Waiting for them would
    not tell: with its namespace, a confined process ends without anybody to wait for it.
    """
    start = time.monotonic()
    own = _children(os.getpid())
    before = _cpu(os.getpid())
    seen: dict[tuple[int, int], float] = {}
    while runs():
        ended = [pid for pid in _children(os.getpid()) if pid not in own and not alive(pid)]
        seen |= _cpu(os.getpid())
        for pid in ended:  # adopted: who does not wait for them looks at more and more of them
            os.waitpid(pid, os.WNOHANG)
        time.sleep(_PERIOD_S)
    spent = sum(seconds - before.get(process, 0.0) for process, seconds in seen.items())
    return Spent(spent, time.monotonic() - start)


def _cpu(above: int) -> dict[tuple[int, int], float]:
    """Processor seconds of the processes below one, by their numbers and when they were started."""
    found = {}
    for pid in descendants(above):
        with contextlib.suppress(OSError):  # it has ended
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            found[pid, int(fields[19])] = (int(fields[11]) + int(fields[12])) / _TICKS
    return found
