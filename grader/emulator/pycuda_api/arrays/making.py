"""New arrays: copied from the host, filled, counted up, or joined from others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import dtype_to_ctype
from grader.emulator.pycuda_api.arrays.device_array import GPUArray, HostArray, Shape
from grader.emulator.pycuda_api.elementwise import kernel

Allocator = Callable[[int], Any]


def to_gpu(ary: HostArray, allocator: Allocator = driver.mem_alloc) -> GPUArray:
    """A copy of a host array on the device; its axes lie in the same order, without gaps."""
    result = GPUArray(ary.shape, ary.dtype, allocator, strides=np.empty_like(ary, order="K").strides)
    result.set(ary)
    return result


def to_gpu_async(
    ary: HostArray, allocator: Allocator = driver.mem_alloc, stream: driver.Stream | None = None
) -> GPUArray:
    return to_gpu(ary, allocator)


def zeros(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: Allocator = driver.mem_alloc, order: str = "C"
) -> GPUArray:
    return _zeroed(GPUArray(shape, dtype, allocator, order=order))


def _zeroed(array: GPUArray) -> GPUArray:
    if array.size:
        driver.memset_d8(array.gpudata, 0, array.nbytes)
    return array


def ones(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: Allocator = driver.mem_alloc, order: str = "C"
) -> GPUArray:
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(
    other_ary: Any, dtype: npt.DTypeLike | None = None, order: Any = "K", allocator: Allocator | None = None
) -> GPUArray:
    """A new array of another's shape. Its `order` is C, F, A (F if the other is) or K (axes as the other's)."""
    memory = other_ary._memory() if isinstance(other_ary, GPUArray) else other_ary
    like = np.empty_like(memory, dtype, order)
    take = allocator if allocator is not None else getattr(other_ary, "allocator", driver.mem_alloc)
    return GPUArray(like.shape, like.dtype, take, strides=like.strides)


def zeros_like(other_ary: Any, dtype: npt.DTypeLike | None = None, order: str = "K") -> GPUArray:
    return _zeroed(empty_like(other_ary, dtype, order))


def ones_like(other_ary: Any, dtype: npt.DTypeLike | None = None, order: str = "K") -> GPUArray:
    return empty_like(other_ary, dtype, order).fill(1)


def arange(*args: Any, dtype: npt.DTypeLike | None = None) -> GPUArray:
    """As `numpy.arange`."""
    part = slice(*args)
    start, stop, step = part.start or 0, part.stop, part.step or 1
    kind = np.dtype(dtype) if dtype is not None else np.result_type(start, stop, step)
    result = GPUArray(max(math.ceil((stop - start) / step), 0), kind)
    ctype = dtype_to_ctype(kind)
    make = kernel(
        f"{ctype} *z, {ctype} start, {ctype} step", "z[i] = start + (decltype(step))i * step", "arange"
    )
    make(result, kind.type(start), kind.type(step))
    return result


def concatenate(arrays: Sequence[GPUArray], axis: int = 0, allocator: Allocator | None = None) -> GPUArray:
    """Arrays one behind the other along an axis that they have. Raises ValueError where others differ."""
    like = np.concatenate([np.broadcast_to(np.empty((), array.dtype), array.shape) for array in arrays], axis)
    result = GPUArray(like.shape, like.dtype, allocator or arrays[0].allocator)
    end = 0
    for array in arrays:
        begin, end = end, end + array.shape[axis]
        np.moveaxis(result._memory(), axis, 0)[begin:end] = np.moveaxis(array._memory(), axis, 0)
    return result


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: Allocator | None = None) -> GPUArray:
    """Arrays of one shape, one behind the other along a new axis, which is the last for -1."""
    if not arrays:
        raise ValueError("need at least one array to stack")
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays):
        raise ValueError("arrays must have the same shape")
    axis = len(shape) if axis == -1 else axis
    if not 0 <= axis <= len(shape):
        raise ValueError(f"axis {axis}: 0 to {len(shape)}, or -1")
    kind = np.result_type(*(array.dtype for array in arrays))
    whole = (*shape[:axis], len(arrays), *shape[axis:])
    result = GPUArray(whole, kind, allocator or arrays[0].allocator, order="F" if axis else "C")
    for position, array in enumerate(arrays):
        np.moveaxis(result._memory(), axis, 0)[position] = array._memory()
    return result
