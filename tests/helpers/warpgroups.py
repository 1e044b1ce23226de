"""Operands of wgmma in shared memory for tests: by the PTX ISA's canonical layouts, element by element, as the layout
functions of CUTLASS's comments give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from fragments import BITS, Array, encoded

MODES = {0: 0, 128: 1, 64: 2, 32: 3}
"""Bytes of a swizzle → its number in a descriptor."""


@dataclass(frozen=True)
class Tile:
    """A matrix of `rows` × k in shared memory: A as it is, B transposed."""

    kind: str
    rows: int
    depth: int
    swizzle: int
    """Bytes; 0 for none."""
    major: str
    """Which dimension is contiguous: "k" or "mn"."""

    @property
    def width(self) -> int:
        """Bytes of a row of the pattern."""
        return self.swizzle or 16

    @property
    def leading(self) -> int:
        """LBO in bytes: from one piece of a contiguous run to the next; see `place`."""
        if self.major == "k":
            return 8 * 16 * (self.rows // 8) if not self.swizzle else 16
        run = self.width // 2
        if not self.swizzle:  # of k groups
            return self.rows // 8 * 128
        return self.width * 8 * (self.depth // 8) if self.rows > run else 16

    @property
    def stride(self) -> int:
        """SBO in bytes."""
        return 128 if not self.swizzle else 8 * self.width

    def place(self, row: int, k: int) -> int:
        """The byte offset of an element's first byte (or only one), swizzled."""
        nbytes = BITS[self.kind] // 8
        if self.major == "k":
            byte = k * nbytes
            offset = row % 8 * self.width + row // 8 * self.stride + byte % self.width
            offset += byte // self.width * self.leading
        else:
            run = self.width // nbytes
            offset = row % run * nbytes + k % 8 * self.width
            if self.swizzle:
                offset += row // run * self.leading + k // 8 * self.stride
            else:
                offset += row // run * self.stride + k // 8 * self.leading
        if self.swizzle:
            chunk, line = offset // 16 % (self.swizzle // 16), offset // 128 % (self.swizzle // 16)
            offset += ((chunk ^ line) - chunk) * 16
        return offset

    def image(self, values: Array, nbytes: int) -> Array:
        """The bytes of shared memory that hold the matrix."""
        memory = np.zeros(nbytes, np.uint8)
        size = BITS[self.kind] // 8
        for (row, k), code in np.ndenumerate(encoded(values, self.kind)):
            at = self.place(row, k)
            memory[at : at + size] = np.frombuffer(int(code).to_bytes(size, "little"), np.uint8)
        return memory

    def descriptor(self, address: int) -> int:
        return address >> 4 | (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | MODES[self.swizzle] << 62


def warpgroup_sums(values: Array, kind: str) -> Array:
    """Warps × registers × lanes of the 64 × n sums, by the PTX ISA's figure of D."""
    dtype = {"f32": np.float32, "f16": np.float16, "s32": np.int32}[kind]
    columns = values.shape[1]
    elements = np.zeros((4, columns // 2, 32), dtype)
    for (row, column), value in np.ndenumerate(values):
        register = column // 8 * 4 + row % 16 // 8 * 2 + column % 2
        elements[row // 16, register, row % 8 * 4 + column % 8 // 2] = value
    if kind == "f16":
        pairs = elements.reshape(4, -1, 2, 32).transpose(0, 1, 3, 2)
        return np.ascontiguousarray(pairs).view(np.uint32).reshape(4, -1, 32)
    return elements.view(np.uint32)
