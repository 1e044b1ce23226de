"""Clusters of a grid: which are allowed, and which blocks belong together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grader.emulator.devices import EmulatedDevice
from grader.emulator.errors import ClusterRefused
from grader.emulator.runtime import layout

Shape = tuple[int, int, int]
Array = np.ndarray[Any, np.dtype[np.int64]]

PORTABLE = 8
"""Blocks of a cluster that every GPU with clusters takes; for more, a kernel has to be allowed to."""
MOST = layout.MOST_BLOCKS
"""That a Hopper GPU takes. CUDA C++ Programming Guide, "Thread Block Clusters"."""


def chosen(declared: Shape, asked: Shape | None) -> Shape:
    """The cluster of a launch that asks for one, or does not, of a kernel that has declared one, or has not."""
    if asked is None or asked == declared:
        return declared
    if declared != (1, 1, 1):
        raise ClusterRefused(f"clusters of {_by(asked)} blocks; __cluster_dims__ asks for {_by(declared)}")
    return asked


def check(cluster: Shape, grid: Shape, device: EmulatedDevice, *, non_portable: bool) -> None:
    """Raises ClusterRefused where a grid cannot be launched in such clusters."""
    blocks = math.prod(cluster)
    if min(cluster) < 1:
        raise ClusterRefused(f"clusters of {_by(cluster)} blocks")
    for size, together, axis in zip(grid, cluster, "xyz", strict=True):
        if size % together:
            raise ClusterRefused(
                f"grid.{axis} is {size}; clusters of {_by(cluster)} ask for a multiple of {together}"
            )
    if blocks > 1 and device.attributes["compute_capability_major"] < 9:
        raise ClusterRefused("the device has no clusters; they came with compute capability 9.0")
    most = MOST if non_portable else PORTABLE
    if blocks > most:
        allowed = "" if non_portable else ", more with the attribute NonPortableClusterSizeAllowed"
        raise ClusterRefused(f"a cluster of {_by(cluster)} = {blocks} blocks; {most} are the most{allowed}")


def together(grid: Shape, cluster: Shape) -> Array:
    """The linear numbers of the blocks of each cluster, in the order of their ranks: of shape (clusters, blocks)."""
    numbers = np.arange(math.prod(grid), dtype=np.int64).reshape(grid[::-1])
    (gx, gy, gz), (x, y, z) = grid, cluster
    parts = numbers.reshape(gz // z, z, gy // y, y, gx // x, x)
    return np.ascontiguousarray(parts.transpose(0, 2, 4, 1, 3, 5).reshape(-1, x * y * z))


def whole(linears: Array, grid: Shape, cluster: Shape) -> Array:
    """The clusters that these blocks belong to, each once, in the order in which they come first."""
    (gx, gy, _), (x, y, z) = grid, cluster
    # By what each block's number says: a grid may have a billion blocks, of which a few are looked at.
    column, row, plane = linears % gx, linears // gx % gy, linears // (gx * gy)
    first = (plane - plane % z) * gx * gy + (row - row % y) * gx + column - column % x
    ranks = (np.arange(z)[:, None, None] * gx * gy + np.arange(y)[:, None] * gx + np.arange(x)).ravel()
    return np.array(list(dict.fromkeys(first.tolist())), np.int64)[:, None] + ranks


def _by(shape: Shape) -> str:
    return " × ".join(map(str, shape))
