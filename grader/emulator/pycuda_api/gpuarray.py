"""`pycuda.gpuarray` on the emulator: arrays in device memory, computed with element by element.

Arithmetic launches kernels, as in PyCUDA, so it shows in profiles; the kernels are this emulator's own, and
their counters are not those of PyCUDA's. Copies between host and device may have any strides. Broadcasting
other than of arrays of shape (), and what needs textures are missing.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.pycuda_api.arrays.choosing import (
    if_positive,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multi_put,
    multi_take,
    multi_take_put,
    take,
    where,
)
from grader.emulator.pycuda_api.arrays.device_array import GPUArray
from grader.emulator.pycuda_api.arrays.making import (
    arange,
    concatenate,
    empty_like,
    ones,
    ones_like,
    stack,
    to_gpu,
    to_gpu_async,
    zeros,
    zeros_like,
)
from grader.emulator.pycuda_api.arrays.reducing import (
    all,
    any,
    dot,
    max,
    min,
    subset_dot,
    subset_max,
    subset_min,
    subset_sum,
    sum,
)
from grader.emulator.pycuda_api.arrays.vectors import vec
from grader.emulator.pycuda_api.driver.errors import missing_name
from grader.emulator.pycuda_api.elementwise import splay

__all__ = [
    "GPUArray",
    "all",
    "any",
    "arange",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]

empty = GPUArray


def reshape(a: GPUArray, *shape: Any, order: Any = "C") -> GPUArray:
    return a.reshape(*shape, order=order)


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    return a.transpose(axes)


def __getattr__(name: str) -> Any:
    raise missing_name(f"pycuda.gpuarray.{name} is not emulated; emulated are {', '.join(__all__)}")
