"""The first child of a grade: on a GPU CUDA takes most of a second to start, so it is begun before anything else is
imported, and does so meanwhile. Beside imports in other threads the beginning itself would take that long."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from grader import gpu
from grader.emulator.devices import DEFAULT_ARCH
from grader.judge.child.begun import Begun, begin


@dataclass(frozen=True)
class First:
    """What launches on the GPU, or finds that there is none."""

    device: str
    child: Begun | None  # None: there are emulators alone
    arch: str | None  # what to compile for; None: the child says so


def begin_first(device: str, arch: str | None) -> First:
    """Begin what judges on a device, of an architecture unless that is None. Raises WarpladderError for a driver that
    cannot be used."""
    if _emulator_for_sure(device, arch):
        return First("emulator", None, arch or DEFAULT_ARCH)
    known = None if arch else gpu.at_once()
    if known is not None and not gpu.problem(known):
        return First("pycuda", begin("pycuda"), known.arch)
    return First(device, begin(device, arch or ""), None)


def _emulator_for_sure(device: str, arch: str | None) -> bool:
    """Whether the answer is known before any driver is asked."""
    if device != "auto":
        return device == "emulator"
    return arch is not None or importlib.util.find_spec("pycuda") is None
