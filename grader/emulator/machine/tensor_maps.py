"""Tensor maps for TMA (CUDA driver API, "Tensor Map Object Management"): what the driver encodes in 128 bytes.

The bytes are this emulator's own; a kernel hands them to its copies and looks at nothing in them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from grader.emulator.runtime import layout

DATA_TYPES = {
    "UINT8": 1, "UINT16": 2, "UINT32": 4, "INT32": 4, "UINT64": 8, "INT64": 8, "FLOAT16": 2, "FLOAT32": 4,
    "FLOAT64": 8, "BFLOAT16": 2, "FLOAT32_FTZ": 4, "TFLOAT32": 4, "TFLOAT32_FTZ": 4,
}  # fmt: skip
"""The names of CUtensorMapDataType, in its order → bytes of an element."""

SWIZZLES = {0: 0, 32: 1, 64: 3, 128: 7}
"""Bytes of a swizzle's span → which bits of a row's number are exchanged."""

_MOST_DIMENSIONS = 5


@dataclass(frozen=True)
class TensorMap:
    """A tensor in global memory and the box that a copy moves; innermost dimension first."""

    address: int
    data_type: str
    """One of DATA_TYPES."""
    dims: Sequence[int]
    strides: Sequence[int]
    """In bytes, of all dimensions but the innermost."""
    box: Sequence[int]
    """In elements."""
    element_strides: Sequence[int]
    """Every how many elements are copied; that of the innermost dimension is ignored."""
    swizzle: int = 0
    """0, 32, 64 or 128 bytes."""
    nan_fill: bool = False
    """Outside the tensor are NaN, not zeros."""

    def fault(self) -> str | None:
        """Why the driver does not take it; None where it does."""
        rank = len(self.dims)
        if self.data_type not in DATA_TYPES:
            return f"the data type {self.data_type}"
        width = DATA_TYPES[self.data_type]
        if not 1 <= rank <= _MOST_DIMENSIONS:
            return f"a tensor of {rank} dimensions: there may be 1 to {_MOST_DIMENSIONS}"
        if (len(self.strides), len(self.box), len(self.element_strides)) != (rank - 1, rank, rank):
            return f"a tensor of {rank} dimensions has {rank - 1} strides, and {rank} extents of a box"
        if self.address % 16:
            return f"the address {self.address:#x}, which is no multiple of 16"
        if any(not 1 <= size <= 1 << 32 for size in self.dims):
            return "an extent of the tensor that is not 1 to 2^32"
        if any(stride % 16 or not 0 <= stride < 1 << 40 for stride in self.strides):
            return "a stride that is no multiple of 16 bytes, or not below 2^40"
        if any(not 1 <= size <= 256 for size in self.box):
            return "an extent of the box that is not 1 to 256"
        if any(not 1 <= step <= 8 for step in self.element_strides):
            return "an element stride that is not 1 to 8"
        return self._fault_of_rows(self.box[0] * width)

    def _fault_of_rows(self, row: int) -> str | None:
        if row % 16:
            return f"a box with rows of {row} bytes, which is no multiple of 16"
        if self.swizzle not in SWIZZLES:
            return f"a swizzle of {self.swizzle} bytes"
        if self.swizzle and row > self.swizzle:
            return f"a box with rows of {row} bytes, more than its swizzle of {self.swizzle}"
        if self.nan_fill and "FLOAT" not in self.data_type:
            return f"NaN for elements of type {self.data_type}"
        return None

    def encoded(self) -> bytes:
        """The 128 bytes (layout.py)."""
        rank = len(self.dims)
        buffer = bytearray(layout.MAP_BYTES)
        numbers = (rank, DATA_TYPES[self.data_type], SWIZZLES[self.swizzle], int(self.nan_fill))
        struct.pack_into("<qq", buffer, 0, layout.MAP_MAGIC, self.address)
        struct.pack_into("<5B", buffer, layout.MAP_RANK, *numbers, list(DATA_TYPES).index(self.data_type))
        struct.pack_into(f"<{rank}I", buffer, layout.MAP_DIMS, *(size - 1 for size in self.dims))
        struct.pack_into(f"<{rank}H", buffer, layout.MAP_BOX, *self.box)
        struct.pack_into(f"<{rank}B", buffer, layout.MAP_STEPS, 1, *self.element_strides[1:])
        struct.pack_into(f"<{rank - 1}q", buffer, layout.MAP_STRIDES, *self.strides)
        return bytes(buffer)
