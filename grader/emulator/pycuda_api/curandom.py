"""`pycuda.curandom` on the emulator: random numbers of the distributions asked for, which are not cuRAND's numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import dtype_to_ctype
from grader.emulator.pycuda_api.arrays.device_array import GPUArray, Shape
from grader.emulator.pycuda_api.arrays.making import to_gpu
from grader.emulator.pycuda_api.driver.errors import missing_name
from grader.emulator.pycuda_api.elementwise import ElementwiseKernel
from grader.emulator.pycuda_api.tools import context_dependent_memoize

# SplitMix64 (Steele, Lea, Flood 2014) of a counter: every element on its own, whatever the grid.
_HASH = """
struct Random
{
    unsigned long long state;

    __device__ unsigned long long bits()
    {
        unsigned long long z = state += 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    __device__ double above_zero() { return ((bits() >> 11) + 1) * 0x1p-53; }  // to 1, so that it has a logarithm
    __device__ double normal()  // Box and Muller (1958)
    {
        double length = sqrt(-2 * log(above_zero()));
        return length * cospi(2 * above_zero());
    }
    __device__ unsigned poisson(double mean)  // the events of a time `mean`, an exponential time apart
    {
        unsigned events = 0;
        for (double passed = -log(above_zero()); passed <= mean; passed -= log(above_zero()))
            ++events;
        return events;
    }
};
"""
_UNIFORM = {
    "float32": "(random.bits() >> 40) * 0x1p-24f",
    "float64": "(random.bits() >> 11) * 0x1p-53",
    "int32": "(int)(random.bits() >> 32)",
    "uint32": "(unsigned)(random.bits() >> 32)",
    "int64": "(long)random.bits()",
    "uint64": "random.bits()",
}


@context_dependent_memoize
def _kernel(name: str, ctype: str, expression: str) -> ElementwiseKernel:
    """dest[i] = expression, with a generator `random` for each element and numbers `a` and `b`."""
    return ElementwiseKernel(
        f"{ctype} *dest, unsigned long long seed, unsigned long long position, double a, double b",
        # The counters of neighbouring elements start far apart: the hash of their index.
        f"Random random{{seed + position + i}}; random.state = random.bits(); dest[i] = {expression}",
        name,
        preamble=_HASH,
    )


def rand(shape: Shape, dtype: npt.DTypeLike = np.float32, stream: driver.Stream | None = None) -> GPUArray:
    """Uniform random numbers: of [0, 1) for floating-point types, of all values for 32-bit integers.

    `numpy.random.seed` makes them repeatable, as it does in PyCUDA.
    """
    name = np.dtype(dtype).name
    if name not in ("float32", "float64", "int32", "uint32"):
        raise NotImplementedError(f"rand of {name}; there are float32, float64, int32, uint32")
    return _Generator(_seed_of_numpy).gen_uniform(shape, dtype, stream)


def _seed_of_numpy(count: int) -> GPUArray:
    return to_gpu(np.random.randint(0, 2**31 - 1, count).astype(np.int32))


def seed_getter_uniform(n: int) -> GPUArray:
    """The same seed for `n` generators."""
    return GPUArray(n, np.int32).fill(random.randint(0, 2**31 - 1))


def seed_getter_unique(n: int) -> GPUArray:
    """Seeds of their own for `n` generators."""
    return _seed_of_numpy(n)


class _Generator:
    """A sequence of random numbers; every call goes on where the one before ended."""

    def __init__(self, seed_getter: Callable[[int], GPUArray] | None = None, offset: int = 0) -> None:
        seed = (seed_getter or _seed_of_numpy)(1)
        if not (isinstance(seed, GPUArray) and seed.dtype == np.int32 and seed.size == 1):
            raise TypeError("seed must be GPUArray of integers of right length")
        # Far from other seeds' counters, by the golden ratio (Knuth).
        self._seed = int(seed.get().ravel()[0]) * 0x9E3779B97F4A7C15 % 2**64
        self._position = offset

    def _fill(
        self, kind: str, expression: str, data: GPUArray, stream: Any, a: float = 0, b: float = 0
    ) -> GPUArray:
        kernel = _kernel(f"{kind}_{data.dtype.name}", dtype_to_ctype(data.dtype), expression)
        kernel(data, self._seed, self._position, a, b, stream=stream)
        self._position += data.size
        return data

    def fill_uniform(self, data: GPUArray, stream: driver.Stream | None = None) -> None:
        """Of [0, 1) for floating-point types, of all values for integers of 32 and 64 bits."""
        expression = _UNIFORM.get(data.dtype.name)
        if expression is None:
            raise NotImplementedError(f"uniform numbers of {data.dtype}; there are {', '.join(_UNIFORM)}")
        self._fill("rand", expression, data, stream)

    def fill_normal(self, data: GPUArray, stream: driver.Stream | None = None) -> None:
        """Of mean 0 and standard deviation 1."""
        self._fill("normal", "random.normal()", _floats(data), stream)

    def fill_log_normal(
        self, data: GPUArray, mean: float, stddev: float, stream: driver.Stream | None = None
    ) -> None:
        """exp of normal numbers with this mean and standard deviation."""
        self._fill("log_normal", "exp(a + b * random.normal())", _floats(data), stream, mean, stddev)

    def fill_poisson(
        self, data: GPUArray, lambda_value: float | None = None, stream: driver.Stream | None = None
    ) -> None:
        """With the mean `lambda_value`; without it, each element of `data` is its own mean."""
        mean = "dest[i]" if lambda_value is None else "a"
        kind = "poisson_inplace" if lambda_value is None else "poisson"
        self._fill(kind, f"random.poisson({mean})", data, stream, lambda_value or 0)

    def gen_uniform(
        self, shape: Shape, dtype: npt.DTypeLike, stream: driver.Stream | None = None
    ) -> GPUArray:
        result = GPUArray(shape, dtype)
        self.fill_uniform(result, stream)
        return result

    def gen_normal(self, shape: Shape, dtype: npt.DTypeLike, stream: driver.Stream | None = None) -> GPUArray:
        result = GPUArray(shape, dtype)
        self.fill_normal(result, stream)
        return result

    def gen_log_normal(
        self,
        shape: Shape,
        dtype: npt.DTypeLike,
        mean: float,
        stddev: float,
        stream: driver.Stream | None = None,
    ) -> GPUArray:
        result = GPUArray(shape, dtype)
        self.fill_log_normal(result, mean, stddev, stream)
        return result

    def gen_poisson(
        self,
        shape: Shape,
        dtype: npt.DTypeLike,
        lambda_value: float,
        stream: driver.Stream | None = None,
    ) -> GPUArray:
        result = GPUArray(shape, dtype)
        self.fill_poisson(result, lambda_value, stream)
        return result

    def call_skip_ahead(self, i: int, stream: driver.Stream | None = None) -> None:
        """Leave out the next `i` numbers."""
        self._position += i


def _floats(data: GPUArray) -> GPUArray:
    if data.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"normal numbers of {data.dtype}; there are float32, float64")
    return data


class XORWOWRandomNumberGenerator(_Generator):
    """Distributed as cuRAND's generator of this name has it; the numbers are others."""


class MRG32k3aRandomNumberGenerator(_Generator):
    """Distributed as cuRAND's generator of this name has it; the numbers are others."""


def get_curand_version() -> tuple[int, int, int]:
    """The version of cuRAND whose generators have their names here."""
    return (10, 4, 0)


def _quasi_random(name: str) -> Any:
    def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
        raise driver.NotEmulated(
            f"pycuda.curandom.{name}: direction vectors are in cuRAND's library for the host, which needs a GPU; "
            "use XORWOWRandomNumberGenerator"
        )

    refuse.__name__ = name
    return refuse


Sobol32RandomNumberGenerator = _quasi_random("Sobol32RandomNumberGenerator")
Sobol64RandomNumberGenerator = _quasi_random("Sobol64RandomNumberGenerator")
ScrambledSobol32RandomNumberGenerator = _quasi_random("ScrambledSobol32RandomNumberGenerator")
ScrambledSobol64RandomNumberGenerator = _quasi_random("ScrambledSobol64RandomNumberGenerator")


def __getattr__(name: str) -> Any:
    emulated = "rand, XORWOWRandomNumberGenerator, MRG32k3aRandomNumberGenerator, seed_getter_uniform, "
    raise missing_name(f"pycuda.curandom.{name} is not emulated; emulated are {emulated}seed_getter_unique")
