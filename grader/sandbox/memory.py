"""How much memory there is for us: a container, or a batch system, may give fewer than the machine has."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_OURS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


@functools.cache
def memory_bytes() -> int:
    """Bytes that this process and those it starts may have together: all of the machine's, or as many as the least of
    the limits that control groups set. Asked once: a grade needs it for each case."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        groups = _OURS.read_text(encoding="utf-8")
    except OSError:
        return machine
    return min([machine, *limits(groups, _MOUNTED)])


def free_bytes() -> int:
    """Bytes that are there without swapping, as far as this process may know."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return memory_bytes()
    return min(free, memory_bytes())


def limits(groups: str, mounted: Path) -> Iterator[int]:
    """The limits in bytes of a process's control groups, whose lines /proc/PID/cgroup holds, and of those around them.

    Version 2 has one tree, version 1 one for memory. In a container a path may be the host's, which is not to be seen
    there: the root of what is mounted is then the container's own group.
    """
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            tree, file = mounted, "memory.max"
        elif "memory" in controllers.split(","):
            tree, file = mounted / "memory", "memory.limit_in_bytes"
        else:
            continue
        inside = PurePosixPath(path.lstrip("/"))
        for group in (inside, *inside.parents):
            try:
                yield int((tree / group / file).read_text(encoding="utf-8"))
            except (OSError, ValueError):  # it is not there, or "max"
                continue
