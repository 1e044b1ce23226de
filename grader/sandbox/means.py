"""What this machine has to confine a process with."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.sandbox import landlock, seccomp
from grader.sandbox.box import PACKAGE, packages

_SECONDS = 10.0
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


@dataclass(frozen=True)
class Means:
    """What there is; each is used beside the others."""

    bubblewrap: str  # the program, where it can make namespaces here; "" elsewhere
    landlock: int  # the kernel's version of it; 0 for none
    seccomp: bool
    other_user: bool  # we are root, and may be somebody else

    @property
    def files(self) -> bool:
        """Whether files are out of a confined process's reach."""
        return bool(self.bubblewrap) or self.landlock > 0

    @property
    def alone(self) -> bool:
        """Whether a stranger's code runs as we do, with no more than limits and a filter of calls around it."""
        return not self.files and not self.other_user

    @property
    def whole(self) -> bool:
        """Whether files, the network and other processes are all out of its reach."""
        return bool(self.bubblewrap) or (self.landlock > 0 and self.seccomp)

    @property
    def left(self) -> str:
        """What they leave to a stranger's code, in words that follow its name."""
        if self.whole:
            return (
                "reads none of your files, and reaches neither other processes nor, but on a GPU, the network"
            )
        reads = (
            "none of your files" if self.files else "what you may" if self.alone else "what every user may"
        )
        if self.seccomp:
            return f"may read {reads}, write nothing, and reach neither other processes nor, but on a GPU, the network"
        if self.alone:
            return f"may read {reads}, use the network, write files and end processes as you may"
        return f"may read {reads}, and use the network"

    def __str__(self) -> str:
        found = [
            "bubblewrap" if self.bubblewrap else "",
            f"Landlock {self.landlock}" if self.landlock else "",
            "another user" if self.other_user and not self.files else "",
            "seccomp" if self.seccomp else "",
            "limits",
        ]
        return ", ".join(name for name in found if name) + (
            " alone" if self.alone and not self.seccomp else ""
        )


def better() -> str:
    """What to do where they are not whole."""
    if shutil.which("bwrap") is None:
        return "install bubblewrap (apt install bubblewrap), where user namespaces are allowed"
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return "allow this container user namespaces (docker run --security-opt seccomp=unconfined)"
    if _APPARMOR.exists() and _APPARMOR.read_text().strip() == "1":
        return "allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
    return "allow user namespaces (sysctl user.max_user_namespaces=10000)"


@cache
def means() -> Means:
    """What there is here. The first call takes some ten milliseconds: bubblewrap is tried."""
    other_user = os.geteuid() == 0 and _may_change_user() and _others_may_read()
    return Means(_bubblewrap(), landlock.version(), seccomp.supported(), other_user)


def _bubblewrap() -> str:
    """Installed is not enough: the kernel, or a container around us, may refuse namespaces."""
    program = shutil.which("bwrap")
    if program is None:
        return ""
    trial = [program, *NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        done = subprocess.run([*trial, "true"], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return program if done.returncode == 0 else ""


NAMESPACES = (
    "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
)  # fmt: skip


def _others_may_read() -> bool:
    """Whether another user finds the interpreter and the packages: not where they lie in root's own folder."""
    needed = [Path(path) for path in (sys.base_prefix, str(PACKAGE), *packages())]
    return all(folder.stat().st_mode & 0o005 == 0o005 for path in needed for folder in (path, *path.parents))


def _may_change_user() -> bool:
    """Whether root here has the capabilities CAP_SETGID and CAP_SETUID."""
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(header, sets)
    return sets[0] & 0b11 << 6 == 0b11 << 6
