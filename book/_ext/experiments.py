"""Small kernels of the chapters, run on the emulator while the book is built: book/machine/kernels/<name>.cu."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import grader.lab as lab
from grader.lab import cells
from grader.lab.counts import Counts

KERNELS = Path(__file__).resolve().parents[1] / "machine" / "kernels"


def _kept(name: str) -> str:
    """The kernel of a file, kept under its name for `lab.count`."""
    cells.keep(name, None, (KERNELS / f"{name}.cu").read_text(encoding="utf-8"))
    return name


@cache
def paths(count: int) -> Counts:
    """What one block of 256 threads is counted to do where the lanes of a warp take `count` paths, a divisor of 32."""
    x, factors = np.ones(256, np.float32), np.full(32, 0.5, np.float32)
    return lab.count(_kept("paths"), x, factors, np.int32(count), grid=1, block=256)


@cache
def neighbours() -> Counts:
    """A race in shared memory, found."""
    given, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    return lab.count(_kept("neighbours"), given, out, grid=1, block=256)


@cache
def shared_tile(size: int = 256) -> Counts:
    """Rung 02 of the transpose, which has bank conflicts, on a square matrix."""
    given, out = np.ones((size, size), np.float32), np.zeros((size, size), np.float32)
    grid = (size // 32) ** 2
    return lab.count(
        "transpose/02_shared_tile", given, out, np.int32(size), np.int32(size), grid=grid, block=(32, 8)
    )
