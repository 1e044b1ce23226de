"""The first children of a grade: on a GPU CUDA takes most of a second to start, and an emulator half of one, so they
are begun before anything else is imported, and do so meanwhile. Beside imports in other threads the beginning itself
would take that long."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, replace

from grader import gpu
from grader.emulator.devices import DEFAULT_ARCH
from grader.emulator.machine.cores import usable
from grader.judge.child.begun import Begun, begin

CORES_EACH, MOST_EMULATORS = 2, 8
"""Cores of an emulator of a grade, whose cases have few blocks, and how many there are on a large machine."""


@dataclass(frozen=True)
class First:
    """What launches on the GPU, or finds that there is none, and emulators of its architecture."""

    device: str
    child: Begun | None  # None: there are emulators alone
    arch: str | None  # what to compile for; None: the child says so
    emulators: tuple[Begun, ...] = ()
    cores: int | None = None  # the file by which emulators share the machine's cores

    def close_emulators(self) -> None:
        """End those that nobody has taken over."""
        for emulator in self.emulators:
            emulator.close()
        if self.cores is not None:
            os.close(self.cores)


def emulators() -> int:
    """How many emulators a grade has: two where there are two cores, as the parent and each of them wait in turn."""
    cores = usable()
    return max(min(2, cores), min(MOST_EMULATORS, cores // CORES_EACH))


def shared_cores(jobs: int) -> int | None:
    """The file by which so many emulators share the machine's cores."""
    return os.memfd_create("ladder-cores") if jobs > 1 else None


def begin_grade(device: str, arch: str | None) -> First:
    """Begin what a grade judges on, as `begin_first` does, and its emulators, where their architecture is known."""
    first = begin_first(device, arch)
    if first.arch is None:
        return first
    jobs = emulators()
    cores = shared_cores(jobs)
    return replace(
        first,
        emulators=tuple(begin("emulator", first.arch, cores=cores) for _ in range(jobs)),
        cores=cores,
    )


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
