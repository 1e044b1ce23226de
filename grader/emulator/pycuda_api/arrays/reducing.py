"""One value of a whole array, or of those of its elements that a subset of indices names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import dtype_to_ctype
from grader.emulator.pycuda_api.arrays.device_array import GPUArray
from grader.emulator.pycuda_api.elementwise import common_dtype
from grader.emulator.pycuda_api.reduction import ReductionKernel
from grader.emulator.pycuda_api.tools import context_dependent_memoize

Stream = driver.Stream


@context_dependent_memoize
def _reduction(
    out: np.dtype[Any], neutral: str, reduce_expr: str, map_expr: str, arguments: str
) -> ReductionKernel:
    return ReductionKernel(out, neutral, reduce_expr, map_expr, arguments, name="reduce")


def _reduced(
    dtype: npt.DTypeLike,
    neutral: str,
    reduce_expr: str,
    map_expr: str,
    stream: Stream | None = None,
    allocator: Any = None,
    **arrays: GPUArray,
) -> Any:
    """The arrays reduced, each under its name in `map_expr`, to an array of shape ()."""
    pointers = ", ".join(f"const {dtype_to_ctype(array.dtype)} *{name}" for name, array in arrays.items())
    reduction = _reduction(np.dtype(dtype), neutral, reduce_expr, map_expr, pointers)
    return reduction(*arrays.values(), stream=stream, allocator=allocator)


def sum(
    a: GPUArray, dtype: npt.DTypeLike | None = None, stream: Stream | None = None, allocator: Any = None
) -> Any:
    """The sum of all elements, in an array of shape ()."""
    kind = np.dtype(dtype or a.dtype)
    return _reduced(kind, "0", "a + b", f"({dtype_to_ctype(kind)})x[i]", stream, allocator, x=a)


def subset_sum(
    subset: GPUArray,
    a: GPUArray,
    dtype: npt.DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: Any = None,
) -> Any:
    """The sum of the elements a[subset]."""
    kind = np.dtype(dtype or a.dtype)
    value = f"({dtype_to_ctype(kind)})x[subset[i]]"
    return _reduced(kind, "0", "a + b", value, stream, allocator, subset=subset, x=a)


def dot(
    a: GPUArray,
    b: GPUArray,
    dtype: npt.DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: Any = None,
) -> Any:
    """The sum of all products, in an array of shape (); nothing is conjugated."""
    kind = np.dtype(dtype) if dtype is not None else common_dtype(a, b)
    ctype = dtype_to_ctype(kind)
    return _reduced(kind, "0", "a + b", f"({ctype})x[i] * ({ctype})y[i]", stream, allocator, x=a, y=b)


def subset_dot(
    subset: GPUArray,
    a: GPUArray,
    b: GPUArray,
    dtype: npt.DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: Any = None,
) -> Any:
    """The sum of the products a[subset] * b[subset]."""
    kind = np.dtype(dtype) if dtype is not None else common_dtype(a, b)
    ctype = dtype_to_ctype(kind)
    product = f"({ctype})x[subset[i]] * ({ctype})y[subset[i]]"
    return _reduced(kind, "0", "a + b", product, stream, allocator, subset=subset, x=a, y=b)


def any(a: GPUArray, stream: Stream | None = None, allocator: Any = None) -> Any:
    """Whether some element is not 0, in an array of shape ()."""
    return _reduced(np.bool_, "false", "a || b", "(bool)x[i]", stream, allocator, x=a)


def all(a: GPUArray, stream: Stream | None = None, allocator: Any = None) -> Any:
    """Whether no element is 0, in an array of shape ()."""
    return _reduced(np.bool_, "true", "a && b", "(bool)x[i]", stream, allocator, x=a)


def max(a: GPUArray, stream: Stream | None = None) -> Any:
    """The largest element, in an array of shape ()."""
    return _reduced(a.dtype, "x[0]", "a < b ? b : a", "x[i]", stream, x=a)


def min(a: GPUArray, stream: Stream | None = None) -> Any:
    """The smallest element, in an array of shape ()."""
    return _reduced(a.dtype, "x[0]", "b < a ? b : a", "x[i]", stream, x=a)


def subset_max(subset: GPUArray, a: GPUArray, stream: Stream | None = None) -> Any:
    """The largest of the elements a[subset]."""
    return _reduced(a.dtype, "x[subset[0]]", "a < b ? b : a", "x[subset[i]]", stream, subset=subset, x=a)


def subset_min(subset: GPUArray, a: GPUArray, stream: Stream | None = None) -> Any:
    """The smallest of the elements a[subset]."""
    return _reduced(a.dtype, "x[subset[0]]", "b < a ? b : a", "x[subset[i]]", stream, subset=subset, x=a)


# The class lies below the reductions, and so gets these two from here.
setattr(GPUArray, "any", any)  # noqa: B010
setattr(GPUArray, "all", all)  # noqa: B010
