"""What a process does to itself before it meets anything foreign. None of it can be undone.

Imports only what starts in a few milliseconds: the compiler's process is started for each compilation.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
from typing import Any

from grader.sandbox import landlock, seccomp

_SET_PARENT_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_KILL = 9
_NOBODY = 65534
_OVERRIDE, _READ_SEARCH = 1 << 1, 1 << 2
_CAPABILITIES = 0x20080522  # the version of the structures below


def confine(box: dict[str, Any], lifeline: int) -> None:
    """Give up whatever `box` (of `grader.sandbox.box.Box`) does not leave. `lifeline` is a pipe that the process that
    asked for this one holds open."""
    _sacrifice()
    if box["as_nobody"]:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    end_with_parent(0)
    _end_without(lifeline)
    hide()
    _limit(box)
    ctypes.CDLL(None).prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if box["landlock"]:
        landlock.restrict(box["reads"], box["writes"], box["devices"])
    if os.geteuid() == 0:
        _drop_capabilities(_OVERRIDE | _READ_SEARCH if box["landlock"] else 0)
    seccomp.install(threads=box["threads"], network=box["gpu"], writes=box["gpu"] or bool(box["writes"]))


def end_with_parent(parent: int) -> None:
    """Be killed when the thread that started this process ends, whatever ends it. `parent` is its process, 0 where it
    cannot be seen from here."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, _KILL, 0, 0, 0)
    if parent and os.getppid() != parent:  # it has ended already
        os._exit(1)


def _end_without(lifeline: int) -> None:
    """End now where whoever holds the other end of a pipe has ended. bubblewrap, which is between the two, may not have
    asked for a signal by then."""
    ended = select.poll()
    ended.register(lifeline, 0)  # a hang-up is told without being asked for
    if ended.poll(0):
        os._exit(1)
    os.close(lifeline)


def hide() -> None:
    """Keep processes of the same user out of this one's memory and descriptors, and write no core files."""
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _sacrifice() -> None:
    """Be the first to go where the machine runs out of memory."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:  # no /proc here
        return


def _limit(box: dict[str, Any]) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: box["address_bytes"],
        resource.RLIMIT_FSIZE: box["file_bytes"],
        resource.RLIMIT_CPU: box["cpu_seconds"],
        resource.RLIMIT_NOFILE: box["open_files"],
    }
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        if most is not None and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(kind, (most, most))


def _drop_capabilities(kept: int) -> None:
    """Keep only these of root's capabilities. What files are left is Landlock's to say."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    sets = (ctypes.c_uint32 * 6)(
        kept, kept, 0, 0, 0, 0
    )  # effective, permitted, inheritable; low word, high word
    ctypes.CDLL(None).capset(header, sets)
