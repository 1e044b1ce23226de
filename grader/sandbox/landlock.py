"""Landlock: files that a process may open, for itself and without privileges (Linux 5.13 and later, `landlock(7)`).

It also keeps the process from tracing others, so that their memory and descriptors under /proc are out of reach; from
TCP with Linux 6.7; and from signalling others with Linux 6.12.
"""

from __future__ import annotations

import ctypes
import os

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on every architecture
_GET_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_MAKE_REGULAR, _MAKE_FOLDER, _REMOVE, _REFER = 1 << 8, 1 << 7, 1 << 5, 1 << 13
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version knows; later versions know those of 5."""
_NETWORK = 0b11  # bind and connect
_SCOPES = 0b11  # abstract sockets, signals


def version() -> int:
    """The version that the kernel has; 0 for none."""
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), _GET_VERSION)))


def restrict(reads: list[str], writes: list[str], devices: list[str]) -> None:
    """Leave this thread, and those that it starts, reading below `reads`, also writing below `writes`, and using
    `devices`. What of these is not there is passed over. For kernels that have Landlock."""
    known = version()
    rights = (1 << _RIGHTS[min(known, 5)]) - 1
    attributes = (ctypes.c_uint64 * 3)(rights, _NETWORK if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = libc.syscall(_CREATE, attributes, ctypes.c_size_t(ctypes.sizeof(attributes)), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    into = _READ | _LIST | _WRITE | _TRUNCATE | _MAKE_REGULAR | _MAKE_FOLDER | _REMOVE | _REFER
    for paths, allowed in (
        (reads, _READ | _LIST),
        (writes, into),
        (devices, _READ | _LIST | _WRITE | _TRUNCATE | _IOCTL),
    ):
        for path in paths:
            _allow(libc, ruleset, path, allowed & rights)
    if libc.syscall(_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        allowed &= _OF_FILES
    rule = allowed.to_bytes(8, "little") + place.to_bytes(4, "little", signed=True)
    failed = libc.syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    os.close(place)
    if failed:
        raise OSError(ctypes.get_errno(), f"landlock_add_rule: {path}")
