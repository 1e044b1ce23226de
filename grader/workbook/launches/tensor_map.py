"""Tensor maps: how the Tensor Memory Accelerator (TMA) of a GPU from sm_90 on is to see an array.

    // [[tensor_map]]
    // name = "A_tiles"
    // array = "A"
    // shape = ["M", "K"]
    // box = ["BM", "BK"]
    // swizzle = 128

A kernel takes one as `const __grid_constant__ CUtensorMap`, named among the launch's `args`. Shapes and boxes have the
outermost dimension first, as in NumPy and in `[[scratch]]`; a kernel's coordinates have the innermost first. What must
hold of the numbers stands at cuTensorMapEncodeTiled in the CUDA driver API.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

import numpy as np

from grader.workbook.expressions import Expression, nearest
from grader.workbook.strict_toml import Table

T = TypeVar("T")

Swizzle = Literal[0, 32, 64, 128]
Fill = Literal["zero", "nan"]

BYTES = 128
"""The size of a CUtensorMap."""

_KEYS = ("name", "array", "shape", "strides", "box", "swizzle", "fill")
_DIMENSIONS = 5
_LONGEST_SIDE = 2**32
_LONGEST_BOX = 256
PIECE = 16
"""Bytes: strides, and the innermost side of a box, are multiples of it."""


@dataclass(frozen=True)
class TensorMapSpec:
    """One `[[tensor_map]]`."""

    name: str
    array: str
    shape: tuple[Expression, ...]  # outermost dimension first
    strides: tuple[
        Expression, ...
    ]  # elements from one index to the next, of all but the innermost; () is dense
    box: tuple[Expression, ...]  # what one copy moves
    swizzle: Swizzle  # bytes within which 16-byte pieces of shared memory are exchanged; 0: not at all
    fill: Fill  # what a copy brings of what lies outside
    line: int  # of the file, where the table begins
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)  # of its keys

    def expressions(self) -> Iterator[Expression]:
        """All that have a value for each problem."""
        yield from (*self.shape, *self.strides, *self.box)

    def line_of(self, key: str) -> int:
        """Where a key stands; where the table begins if it does not."""
        return self.lines.get(key, self.line)


@dataclass(frozen=True)
class Refused:
    """What of a tensor map cannot be, and what would do."""

    key: str  # of the table
    what: str
    remedy: str


@dataclass(frozen=True)
class TensorMap:
    """A tensor map with its numbers."""

    array: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements, of all but the innermost dimension
    box: tuple[int, ...]
    swizzle: Swizzle
    fill: Fill

    def refused(self) -> Refused | None:
        """Why the driver would not encode it; None if it would."""
        inner = self.box[-1] * self.dtype.itemsize
        uneven = [nbytes for side in self.strides if (nbytes := side * self.dtype.itemsize) % PIECE]
        if max(self.shape) > _LONGEST_SIDE:
            return Refused(
                "shape", f"a side of {max(self.shape):,} elements", f"{_LONGEST_SIDE:,} are the most"
            )
        if uneven:
            remedy = f"it has to be a multiple of {PIECE}: choose another launch by `when`, or copy into rows that are"
            return Refused("strides", f"a stride of {uneven[0]:,} bytes", remedy)
        if max(self.box) > _LONGEST_BOX:
            return Refused(
                "box", f"a box with a side of {max(self.box)} elements", f"{_LONGEST_BOX} are the most"
            )
        if inner % PIECE:
            return Refused(
                "box",
                f"a box of {inner} bytes in the innermost dimension",
                f"it has to be a multiple of {PIECE}",
            )
        if self.swizzle and inner > self.swizzle:
            what = f"a box of {inner} bytes in the innermost dimension, and a swizzle of {self.swizzle}"
            return Refused("swizzle", what, "a swizzle takes boxes that are no longer than it")
        return None


def read_tensor_map(table: Table, arrays: Sequence[str]) -> TensorMapSpec:
    """One `[[tensor_map]]` of one of these arrays; raises WarpladderError."""
    table.allow(*_KEYS)
    name, array = table.get("name", str), table.get("array", str)
    if name in arrays:
        raise table.error(f"`{name}` is an array already", "name", "give the tensor map a name of its own")
    if array not in arrays:
        remedy = f"it can name {', '.join(arrays)}"
        raise table.error(f"`array` names `{array}`{nearest(array, arrays)}", "array", remedy)
    shape, box = table.expressions("shape"), table.expressions("box")
    strides = table.expressions("strides") if "strides" in table.values else ()
    if len(shape) > _DIMENSIONS:
        raise table.error(f"`shape` has {len(shape)} dimensions", "shape", f"{_DIMENSIONS} are the most")
    if len(box) != len(shape):
        raise table.error(
            f"`box` has {len(box)} side{'' if len(box) == 1 else 's'}, and `shape` {len(shape)}",
            "box",
            "give each dimension one",
        )
    if strides and len(strides) != len(shape) - 1:
        remedy = f"give {len(shape) - 1}: the innermost dimension has none, its elements lie side by side"
        raise table.error(f"`strides` has {len(strides)} entries", "strides", remedy)
    return TensorMapSpec(
        name=name,
        array=array,
        shape=shape,
        strides=strides,
        box=box,
        swizzle=_one_of(table, "swizzle", table.get("swizzle", int, 0), get_args(Swizzle)),
        fill=_one_of(table, "fill", table.get("fill", str, "zero"), get_args(Fill)),
        line=table.line(),
        lines={key: table.line(key) for key in table.values},
    )


def dense(
    spec: TensorMapSpec,
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    box: tuple[int, ...],
) -> TensorMap:
    """A map with these numbers; without strides its rows lie behind one another."""
    strides = strides or tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape) - 1))
    return TensorMap(spec.array, dtype, shape, strides, box, spec.swizzle, spec.fill)


def _one_of(table: Table, key: str, value: object, known: tuple[T, ...]) -> T:
    for item in known:
        if value == item:
            return item
    raise table.error(f"`{key}` is {value!r}", key, f"one of {', '.join(map(str, known))}")
