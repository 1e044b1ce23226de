"""`pycuda.gpuarray` on the emulator: arrays in device memory, computed with element by element.

Arithmetic launches kernels, as in PyCUDA, so it shows in profiles; the kernels are this emulator's own, and
their counters are not those of PyCUDA's. Copies between host and device may have any strides. Complex
numbers, broadcasting other than of arrays of shape (), and what needs textures are missing.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.device_array import GPUArray, HostArray, Shape, apply, order_of, result_for
from grader.emulator.pycuda_api.elementwise import common_dtype, kernel
from grader.emulator.pycuda_api.reduction import ReductionKernel
from grader.emulator.pycuda_api.tools import context_dependent_memoize, dtype_to_ctype


def maximum(a: Any, b: Any, out: GPUArray | None = None, stream: driver.Stream | None = None) -> GPUArray:
    return apply("maximum", "x < y ? y : x", out if out is not None else result_for(a, b), stream, x=a, y=b)


def minimum(a: Any, b: Any, out: GPUArray | None = None, stream: driver.Stream | None = None) -> GPUArray:
    return apply("minimum", "y < x ? y : x", out if out is not None else result_for(a, b), stream, x=a, y=b)


def if_positive(
    criterion: GPUArray, then_: GPUArray, else_: GPUArray, out: GPUArray | None = None, stream: Any = None
) -> GPUArray:
    """`then_` where `criterion` is above 0, `else_` elsewhere."""
    result = out if out is not None else result_for(then_, else_)
    return apply("if_positive", "c > 0 ? x : y", result, stream, c=criterion, x=then_, y=else_)


# -- making arrays
empty = GPUArray


def to_gpu(ary: HostArray, allocator: Callable[[int], Any] = driver.mem_alloc) -> GPUArray:
    """A copy of a host array on the device."""
    result = GPUArray(ary.shape, ary.dtype, allocator, order=order_of(ary))
    result.set(ary)
    return result


def to_gpu_async(
    ary: HostArray, allocator: Callable[[int], Any] = driver.mem_alloc, stream: driver.Stream | None = None
) -> GPUArray:
    return to_gpu(ary, allocator)


def zeros(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: Any = driver.mem_alloc, order: str = "C"
) -> GPUArray:
    result = GPUArray(shape, dtype, allocator, order=order)
    if result.size:
        driver.memset_d8(result.gpudata, 0, result.nbytes)
    return result


def ones(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: Any = driver.mem_alloc, order: str = "C"
) -> GPUArray:
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(other_ary: Any, dtype: npt.DTypeLike | None = None) -> GPUArray:
    return GPUArray(other_ary.shape, dtype or other_ary.dtype, order=order_of(other_ary))


def zeros_like(other_ary: Any, dtype: npt.DTypeLike | None = None) -> GPUArray:
    result = empty_like(other_ary, dtype)
    driver.memset_d8(result.gpudata, 0, result.nbytes)
    return result


def ones_like(other_ary: Any, dtype: npt.DTypeLike | None = None) -> GPUArray:
    return empty_like(other_ary, dtype).fill(1)


def arange(*args: Any, dtype: npt.DTypeLike | None = None) -> GPUArray:
    """As `numpy.arange`."""
    start, stop, step = slice(*args).start or 0, slice(*args).stop, slice(*args).step or 1
    kind = np.dtype(dtype) if dtype is not None else np.arange(start, start, step).dtype
    result = GPUArray(builtins.max(math.ceil((stop - start) / step), 0), kind)
    ctype = dtype_to_ctype(kind)
    make = kernel(
        f"{ctype} *z, {ctype} start, {ctype} step", "z[i] = start + (decltype(step))i * step", "arange"
    )
    make(result, kind.type(start), kind.type(step))
    return result


def reshape(a: GPUArray, *shape: Any, order: Any = "C") -> GPUArray:
    return a.reshape(*shape, order=order)


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    return a.transpose(axes)


# -- reductions
@context_dependent_memoize
def _reduction(
    out: np.dtype[Any], neutral: str, reduce_expr: str, map_expr: str, arguments: str
) -> ReductionKernel:
    return ReductionKernel(out, neutral, reduce_expr, map_expr, arguments, name="reduce")


def _pointers(**arrays: GPUArray) -> str:
    return ", ".join(f"const {dtype_to_ctype(array.dtype)} *{name}" for name, array in arrays.items())


def sum(a: GPUArray, dtype: npt.DTypeLike | None = None, stream: driver.Stream | None = None) -> Any:
    """The sum of all elements, in an array of shape ()."""
    return _reduction(np.dtype(dtype or a.dtype), "0", "a + b", "x[i]", _pointers(x=a))(a, stream=stream)


def dot(
    a: GPUArray, b: GPUArray, dtype: npt.DTypeLike | None = None, stream: driver.Stream | None = None
) -> Any:
    """The sum of all products, in an array of shape ()."""
    kind = np.dtype(dtype) if dtype is not None else common_dtype(a, b)
    ctype = dtype_to_ctype(kind)
    product = f"({ctype})x[i] * ({ctype})y[i]"
    return _reduction(kind, "0", "a + b", product, _pointers(x=a, y=b))(a, b, stream=stream)


def max(a: GPUArray, stream: driver.Stream | None = None) -> Any:
    """The largest element, in an array of shape ()."""
    return _reduction(a.dtype, "x[0]", "a < b ? b : a", "x[i]", _pointers(x=a))(a, stream=stream)


def min(a: GPUArray, stream: driver.Stream | None = None) -> Any:
    """The smallest element, in an array of shape ()."""
    return _reduction(a.dtype, "x[0]", "b < a ? b : a", "x[i]", _pointers(x=a))(a, stream=stream)


# -- CUDA's vector types
class vec:
    """Types such as `vec.float3`, and functions such as `vec.make_float3` for values of them."""


def _add_vector_type(name: str, base: npt.DTypeLike, count: int) -> None:
    kind = np.dtype([(axis, base) for axis in "xyzw"[:count]])
    setattr(vec, f"{name}{count}", kind)
    setattr(vec, f"make_{name}{count}", staticmethod(lambda *values: np.array(values, kind)))


_VECTOR_BASES = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "l", "ulong": "L",
    "longlong": "q", "ulonglong": "Q", "float": "f", "double": "d",
}  # fmt: skip
for _name, _code in _VECTOR_BASES.items():
    for _count in range(1, 3 if _code in "qQd" else 5):
        _add_vector_type(_name, _code, _count)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"pycuda.gpuarray.{name} is not emulated; see pydoc grader.emulator.pycuda_api.gpuarray"
    )
