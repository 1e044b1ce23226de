"""What a confined process is left with."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the top-level package."""

ROOT = PACKAGE.parent
"""What holds it."""

_PACKAGES = ("numpy", "msgspec", "llvmlite", "numba", "pycuda", "cupy", "cuda", "nvidia")
_SYSTEM = (
    "/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/alternatives", "/sys/devices/system",
)  # fmt: skip
_OF_GPUS = ("/etc", "/opt", "/proc", "/run", "/sys", "/var")
"""What a GPU's driver and libraries look into; no stranger's code but kernels runs beside them."""

_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_GPU_PASSED_ON = ("CUDA_", "CUPY_", "NVIDIA_", "NCCL_")

DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


@dataclass(frozen=True)
class Box:
    """What a process may do. Whatever it is, it never starts another program."""

    reads: tuple[str, ...] = ()  # files and folders, beside the interpreter, its packages and this one
    writes: tuple[str, ...] = ()  # folders
    threads: bool = True  # it may start threads
    gpu: bool = False  # it may use one, with its driver's sockets and files
    foreign: bool = False  # it meets what a stranger wrote: as root, another user's, where nothing else helps
    address_bytes: int | None = None  # of address space
    file_bytes: int = 1 << 28  # of any one file that it writes, its output among them
    cpu_seconds: int | None = None
    open_files: int = 256


def readable(box: Box) -> list[str]:
    """What a process in this box may read, links and what they lead to; what is not there is left out."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    gpus = _OF_GPUS if box.gpu else ()
    given = (*_SYSTEM, *gpus, sys.base_prefix, *packages(), str(PACKAGE), *libraries, *box.reads)
    there = [path for path in given if path.startswith("/") and os.path.exists(path)]
    return list(dict.fromkeys([*there, *map(os.path.realpath, there)]))


def devices(box: Box) -> list[str]:
    """The devices that a process in this box may use; of a GPU, its driver's files under /proc, too."""
    if not box.gpu:
        return list(DEVICES)
    with contextlib.suppress(
        OSError
    ):  # makes nodes that a freshly started machine lacks; a confined process cannot
        subprocess.run(["nvidia-modprobe", "-c0", "-u"], capture_output=True, check=False)
    return [*DEVICES, *map(str, sorted(Path("/dev").glob("nvidia*"))), "/dev/shm", "/proc"]


def environment(box: Box) -> dict[str, str]:
    """Of our variables those that a process in this box is given: none of them is a secret."""
    kept = (*_PASSED_ON, *(name for name in os.environ if box.gpu and name.startswith(_GPU_PASSED_ON)))
    return {name: os.environ[name] for name in kept if name in os.environ}


@cache
def packages() -> tuple[str, ...]:
    """Where the packages lie that a process needs: of our search path what holds them, and where links lead to."""
    found = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return tuple(dict.fromkeys([*found, *_elsewhere()]))


def _elsewhere() -> Iterator[str]:
    """Folders of packages that lie somewhere else, or by way of links: whether they are imported here or not yet."""
    for name in _PACKAGES:
        spec = PathFinder.find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield str(Path(folder).absolute().parent)
            yield str(Path(folder).resolve().parent)
