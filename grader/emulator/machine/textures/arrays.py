"""CUDA arrays: texels in one, two or three dimensions, or in layers, whose place in memory is the device's own matter.

Here they lie row by row, without gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NumberKind = Literal["unsigned", "signed", "float"]
_BITS: dict[NumberKind, tuple[int, ...]] = {"unsigned": (8, 16, 32), "signed": (8, 16, 32), "float": (16, 32)}


@dataclass(frozen=True)
class Format:
    """What a texel consists of."""

    kind: NumberKind
    bits: int
    """Of a channel."""
    channels: int

    @property
    def nbytes(self) -> int:
        return self.bits * self.channels // 8

    def fault(self) -> str | None:
        """Why there is no such format; None where there is."""
        if self.channels not in (1, 2, 4):
            return f"a texel of {self.channels} channels: there may be 1, 2 or 4"
        if self.bits not in _BITS[self.kind]:
            return f"a channel of {self.bits} bits of type {self.kind}"
        return None


@dataclass(frozen=True)
class Extent:
    """Texels in each dimension; 0 where there is no such dimension. Layers count as depth."""

    width: int
    height: int = 0
    depth: int = 0

    @property
    def rows(self) -> int:
        return max(self.height, 1)

    @property
    def slices(self) -> int:
        return max(self.depth, 1)


@dataclass(frozen=True)
class CudaArray:
    """An array on the device, at an address that is its handle, too."""

    address: int
    format: Format
    extent: Extent
    layered: bool = False

    @property
    def row_bytes(self) -> int:
        return self.extent.width * self.format.nbytes

    @property
    def slice_bytes(self) -> int:
        return self.row_bytes * self.extent.rows

    @property
    def nbytes(self) -> int:
        return self.slice_bytes * self.extent.slices

    def place(self, x_bytes: int, y: int = 0, z: int = 0) -> int:
        """The address of a byte."""
        return self.address + z * self.slice_bytes + y * self.row_bytes + x_bytes

    def holds(self, x_bytes: int, y: int, z: int, width: int, height: int, depth: int) -> bool:
        """Whether a box lies in the array: its place and its extents, in bytes, rows and slices."""
        sizes = (self.row_bytes, self.extent.rows, self.extent.slices)
        box = ((x_bytes, width), (y, height), (z, depth))
        return all(at >= 0 and at + count <= size for (at, count), size in zip(box, sizes, strict=True))
