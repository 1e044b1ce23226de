"""What a result is made with. No machine paths, no host names."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

import grader
from grader.areas import fingerprint
from grader.emulator.nvrtc.compilation import PINNED, find_toolkit
from grader.results import Provenance
from grader.workbook.content import content_root

LIBRARIES = ("numpy", "llvmlite", "numba", "msgspec")
"""What computes numbers besides our own code and the compiler."""


@cache
def made_with(area: tuple[str, ...]) -> str:
    """Changes with all that decides a result besides its topic and its source: the code of an area, the compiler, the
    libraries."""
    versions = [importlib.metadata.version(name) for name in LIBRARIES]
    return "|".join([fingerprint(area), find_toolkit().fingerprint, *versions])


def provenance(driver: str | None = None) -> Provenance:
    """Versions, commit and date of now; `driver` is the CUDA version of the GPU's driver."""
    return Provenance(
        warpladder=grader.__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        nvrtc=_compilers(driver),
        driver=driver,
        git_commit=_commit(content_root()),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _compilers(driver: str | None) -> str | None:
    """The version of NVRTC, and of the other one that made the cubins, where the driver does not know its CUDA."""
    pinned = _installed("nvidia-cuda-nvrtc")
    known = PINNED if driver is None else int(driver.partition(".")[0])
    return pinned if known >= PINNED else f"{pinned}, cubins by {_installed(f'nvidia-cuda-nvrtc-cu{known}')}"


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit(folder: Path) -> str | None:
    """The commit of a clone, with "-dirty" after it where tracked files are changed; None outside a clone."""
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return None
    command = [git, "-C", str(folder), "describe", "--always", "--abbrev=40", "--match=", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
