"""`pycuda.curandom` on the emulator, of which `rand` is here; the numbers are not PyCUDA's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.device_array import GPUArray, Shape
from grader.emulator.pycuda_api.elementwise import ElementwiseKernel
from grader.emulator.pycuda_api.tools import context_dependent_memoize

# SplitMix64 (Steele, Lea, Flood 2014) of the element's index: every element on its own, whatever the grid.
_HASH = """
__device__ unsigned long long random_bits(unsigned long long seed, unsigned long long index)
{
    unsigned long long z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
"""
_EXPRESSIONS = {
    "float32": ("float", "(random_bits(seed, i) >> 40) * 0x1p-24f"),
    "float64": ("double", "(random_bits(seed, i) >> 11) * 0x1p-53"),
    "int32": ("int", "(int)(random_bits(seed, i) >> 32)"),
    "uint32": ("unsigned", "(unsigned)(random_bits(seed, i) >> 32)"),
}


@context_dependent_memoize
def _generator(name: str) -> ElementwiseKernel:
    ctype, expression = _EXPRESSIONS[name]
    arguments = f"{ctype} *dest, unsigned long long seed"
    return ElementwiseKernel(arguments, f"dest[i] = {expression}", f"rand_{name}", preamble=_HASH)


def rand(shape: Shape, dtype: npt.DTypeLike = np.float32, stream: driver.Stream | None = None) -> GPUArray:
    """Uniform random numbers: of [0, 1) for floating-point types, of all values for 32-bit integers.

    `numpy.random.seed` makes them repeatable, as it does in PyCUDA.
    """
    name = np.dtype(dtype).name
    if name not in _EXPRESSIONS:
        raise NotImplementedError(f"rand of {name}; there are {', '.join(_EXPRESSIONS)}")
    result = GPUArray(shape, dtype)
    _generator(name)(result, int(np.random.randint(2**31 - 1)), stream=stream)
    return result


def __getattr__(name: str) -> Any:
    raise AttributeError(f"pycuda.curandom.{name} is not emulated; emulated is rand")
