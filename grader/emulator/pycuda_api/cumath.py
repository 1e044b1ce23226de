"""`pycuda.cumath` on the emulator: mathematical functions of arrays, element by element."""

from __future__ import annotations

from typing import Any

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.device_array import GPUArray, apply, launch
from grader.emulator.pycuda_api.driver.errors import missing_name

_OF_REALS = ["ceil", "floor", "fabs", "asin", "acos", "atan"]
_OF_BOTH = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
_OF_TWO = ["fmod", "ldexp", "modf", "frexp"]


def _elementwise(name: str) -> Any:
    def function(
        array: GPUArray, stream_or_out: Any = None, *, out: Any = None, stream: Any = None
    ) -> GPUArray:
        if isinstance(stream_or_out, GPUArray):
            out = stream_or_out
        elif isinstance(stream_or_out, driver.Stream):
            stream = stream_or_out
        if array.dtype.kind == "c" and name in _OF_REALS:
            raise driver.NotEmulated(
                f"pycuda.cumath.{name} of {array.dtype} is not emulated; take .real or .imag"
            )
        result = out if out is not None else array._new_like_me()
        return apply(f"{name}_kernel", f"{name}(x)", result, stream, x=array)

    function.__name__ = function.__qualname__ = name
    return function


ceil, floor, fabs, asin, acos, atan = map(_elementwise, _OF_REALS)
exp, log, log10, sqrt, sin, cos, tan, sinh, cosh, tanh = map(_elementwise, _OF_BOTH)


def fmod(arg: GPUArray, mod: GPUArray, stream: driver.Stream | None = None) -> GPUArray:
    """The remainder of arg / mod, with the sign of `arg`."""
    return apply("fmod_kernel", "fmod(x, y)", arg._new_like_me(), stream, x=arg, y=mod)


def ldexp(significand: GPUArray, exponent: GPUArray, stream: driver.Stream | None = None) -> GPUArray:
    """significand · 2 ^ exponent, the exponent cut to an integer."""
    result = significand._new_like_me()
    return apply("ldexp_kernel", "ldexp(x, (int)y)", result, stream, x=significand, y=exponent)


def modf(arg: GPUArray, stream: driver.Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """The fractional and the integral parts, both with the sign of `arg`."""
    fractional, integral = arg._new_like_me(), arg._new_like_me()
    launch("modf_kernel", "z[i] = modf(x[i], &y[i])", stream, z=fractional, x=arg, y=integral)
    return fractional, integral


def frexp(arg: GPUArray, stream: driver.Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """Significands from 0.5 to below 1, and exponents of 2, both of the type of `arg`."""
    significand, exponent = arg._new_like_me(), arg._new_like_me()
    operation = "int power; z[i] = frexp(x[i], &power); y[i] = power"
    launch("frexp_kernel", operation, stream, z=significand, x=arg, y=exponent)
    return significand, exponent


def __getattr__(name: str) -> Any:
    raise missing_name(
        f"pycuda.cumath.{name} is not emulated; emulated are {', '.join(_OF_REALS + _OF_BOTH + _OF_TWO)}"
    )
