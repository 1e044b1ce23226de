"""`pycuda.tools` on the emulator: the default context, caches per context, C type names."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.context import current_state
from grader.emulator.pycuda_api.driver.emulation import ContextState

Result = TypeVar("Result")


def make_default_context(
    ctx_maker: Callable[[driver.Device], driver.Context] | None = None,
) -> driver.Context:
    """A context on the device that $CUDA_DEVICE or ~/.cuda_device names, or on the first."""
    device = driver.Device(_chosen_device())
    return ctx_maker(device) if ctx_maker else device.make_context()


def _chosen_device() -> int:
    chosen = os.environ.get("CUDA_DEVICE")
    if chosen is None:
        try:
            chosen = (Path.home() / ".cuda_device").read_text()
        except (OSError, RuntimeError):
            return 0
    return int(chosen)


_memoized: WeakKeyDictionary[ContextState, dict[Any, Any]] = WeakKeyDictionary()


def context_dependent_memoize(function: Callable[..., Result]) -> Callable[..., Result]:
    """Remember results of `function` by positional arguments, for the current context alone."""

    @functools.wraps(function)
    def remembered(*arguments: Any) -> Result:
        results = _memoized.setdefault(current_state("context_dependent_memoize"), {})
        key = (function, *arguments)
        if key not in results:
            results[key] = function(*arguments)
        found: Result = results[key]
        return found

    return remembered


def clear_context_caches() -> None:
    """Forget what `context_dependent_memoize` remembers."""
    _memoized.clear()


_C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long",
    "uint64": "unsigned long",
    "float32": "float",
    "float64": "double",
}


def dtype_to_ctype(dtype: npt.DTypeLike) -> str:
    """The C type of a NumPy type: "float" for float32. Raises ValueError where CUDA has none."""
    name = np.dtype(dtype).name
    if name not in _C_TYPES:
        raise ValueError(f"unable to map dtype '{np.dtype(dtype)}'")
    return _C_TYPES[name]


_MORE_C_TYPES = {
    "char": "int8",
    "unsigned int": "uint32",
    "signed int": "int32",
    "signed": "int32",
    "long int": "int64",
    "unsigned long int": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    **{f"{name}_t": name for name in _C_TYPES if "int" in name},
}
_DTYPES = {ctype: name for name, ctype in _C_TYPES.items()} | _MORE_C_TYPES


def ctype_to_dtype(ctype: str) -> np.dtype[Any]:
    """The NumPy type of a C type: float32 for "float". Raises ValueError where it is not known."""
    if ctype not in _DTYPES:
        raise ValueError(
            f"unknown type {ctype!r} of a kernel argument; known are {', '.join(sorted(_DTYPES))}"
        )
    return np.dtype(_DTYPES[ctype])


def __getattr__(name: str) -> Any:
    emulated = "make_default_context, context_dependent_memoize, clear_context_caches, dtype_to_ctype"
    raise AttributeError(f"pycuda.tools.{name} is not emulated; emulated are {emulated}")
