"""`pycuda.cumath` on the emulator: mathematical functions of arrays, element by element."""

from __future__ import annotations

from typing import Any

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.device_array import GPUArray, apply

_FIRST = ["ceil", "floor", "fabs", "exp", "log", "log10", "sqrt"]
_TRIGONOMETRIC = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"]


def _elementwise(name: str) -> Any:
    def function(
        array: GPUArray, stream_or_out: Any = None, *, out: Any = None, stream: Any = None
    ) -> GPUArray:
        if isinstance(stream_or_out, GPUArray):
            out = stream_or_out
        elif isinstance(stream_or_out, driver.Stream):
            stream = stream_or_out
        result = out if out is not None else array._new_like_me()
        return apply(f"{name}_kernel", f"{name}(x)", result, stream, x=array)

    function.__name__ = function.__qualname__ = name
    return function


ceil, floor, fabs, exp, log, log10, sqrt = map(_elementwise, _FIRST)
sin, cos, tan, asin, acos, atan, sinh, cosh, tanh = map(_elementwise, _TRIGONOMETRIC)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"pycuda.cumath.{name} is not emulated; emulated are {', '.join(_FIRST + _TRIGONOMETRIC)}"
    )
