"""Elements chosen by comparison, by truth, or by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.device_array import (
    GPUArray,
    Shape,
    apply,
    check_order,
    launch,
    result_for,
)

Stream = driver.Stream


def maximum(a: Any, b: Any, out: GPUArray | None = None, stream: Stream | None = None) -> GPUArray:
    return apply("maximum", "x < y ? y : x", out if out is not None else result_for(a, b), stream, x=a, y=b)


def minimum(a: Any, b: Any, out: GPUArray | None = None, stream: Stream | None = None) -> GPUArray:
    return apply("minimum", "y < x ? y : x", out if out is not None else result_for(a, b), stream, x=a, y=b)


def if_positive(
    criterion: GPUArray,
    then_: GPUArray,
    else_: GPUArray,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """`then_` where `criterion` is above 0, `else_` elsewhere. Shapes, and the types of both, must be equal."""
    return _choose("if_positive", "c[i] > 0", criterion, then_, else_, out, stream)


def where(
    criterion: GPUArray,
    then_: GPUArray,
    else_: GPUArray,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """`then_` where `criterion` is not 0, `else_` elsewhere. Shapes, and the types of both, must be equal."""
    return _choose("where", "(bool)c[i]", criterion, then_, else_, out, stream)


def _choose(
    name: str,
    condition: str,
    criterion: GPUArray,
    then_: GPUArray,
    else_: GPUArray,
    out: GPUArray | None,
    stream: Stream | None,
) -> GPUArray:
    if not criterion.shape == then_.shape == else_.shape:
        raise ValueError(f"shapes do not match: {criterion.shape}, {then_.shape}, {else_.shape}")
    if then_.dtype != else_.dtype:
        raise ValueError(f"dtypes do not match: {then_.dtype}, {else_.dtype}")
    result = out if out is not None else then_._new_like_me()
    check_order(result, criterion, then_, else_)
    launch(name, f"z[i] = {condition} ? x[i] : y[i]", stream, z=result, c=criterion, x=then_, y=else_)
    return result


# -- truth
def logical_and(
    x1: Any, x2: Any, /, out: GPUArray | None = None, *, allocator: Callable[[int], Any] | None = None
) -> GPUArray:
    return _logical("logical_and", "x && y", out, allocator, x=x1, y=x2)


def logical_or(
    x1: Any, x2: Any, /, out: GPUArray | None = None, *, allocator: Callable[[int], Any] | None = None
) -> GPUArray:
    return _logical("logical_or", "x || y", out, allocator, x=x1, y=x2)


def logical_not(
    x: Any, /, out: GPUArray | None = None, *, allocator: Callable[[int], Any] | None = None
) -> GPUArray:
    return _logical("logical_not", "!x", out, allocator, x=x)


def _logical(name: str, expression: str, out: GPUArray | None, allocator: Any, **operands: Any) -> GPUArray:
    """Arrays of one shape, or numbers."""
    arrays = [value for value in operands.values() if isinstance(value, GPUArray)]
    if len({array.shape for array in arrays}) > 1:
        raise NotImplementedError("Broadcasting not supported")
    if out is None and arrays and allocator is None:
        out = arrays[0]._new_like_me(np.bool_)
    elif out is None:
        out = GPUArray(arrays[0].shape if arrays else (), np.bool_, allocator or driver.mem_alloc)
    return apply(name, expression, out, **operands)


# -- by index
def take(
    a: GPUArray, indices: GPUArray, out: GPUArray | None = None, stream: Stream | None = None
) -> GPUArray:
    """a[indices] of arrays of one dimension."""
    return multi_take([a], indices, None if out is None else [out], stream)[0]


def multi_take(
    arrays: Sequence[GPUArray],
    indices: GPUArray,
    out: Sequence[GPUArray] | None = None,
    stream: Stream | None = None,
) -> Sequence[GPUArray]:
    """array[indices] of each array."""
    results = _results(arrays, indices.shape, out)
    for array, result in zip(arrays, results, strict=True):
        launch("take", "z[i] = x[index[i]]", stream, index=indices, z=result, x=array)
    return results


def multi_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    dest_shape: Shape | None = None,
    out: Sequence[GPUArray] | None = None,
    stream: Stream | None = None,
) -> Sequence[GPUArray]:
    """result[dest_indices] = array, for each array. Without `out`, other elements of a result are not initialised."""
    results = _results(arrays, dest_shape, out)
    for array, result in zip(arrays, results, strict=True):
        launch("put", "z[index[i]] = x[i]", stream, index=dest_indices, z=result, x=array)
    return results


def multi_take_put(
    arrays: Sequence[GPUArray],
    dest_indices: GPUArray,
    src_indices: GPUArray,
    dest_shape: Shape | None = None,
    out: Sequence[GPUArray] | None = None,
    stream: Stream | None = None,
    src_offsets: Sequence[int] | None = None,
) -> Sequence[GPUArray]:
    """result[dest_indices] = array[src_indices + its offset], for each array."""
    results = _results(arrays, dest_shape, out)
    operation = "z[index[i]] = x[from[i] + offset]"
    operands = {"index": dest_indices, "from": src_indices}
    for array, result, offset in zip(arrays, results, src_offsets or [0] * len(arrays), strict=True):
        launch("take_put", operation, stream, **operands, z=result, x=array, offset=np.int64(offset))
    return results


def _results(
    arrays: Sequence[GPUArray], shape: Shape | None, out: Sequence[GPUArray] | None
) -> Sequence[GPUArray]:
    if out is not None:
        return out
    if shape is None:
        raise ValueError("dest_shape is needed where out is not given")
    return [GPUArray(shape, array.dtype, array.allocator) for array in arrays]
