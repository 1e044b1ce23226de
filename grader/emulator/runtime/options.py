"""How the runtime's functions are compiled: no Python objects, no bounds checks, division as in C.

Annotations in the runtime are for the reader and the type checker (`int` is int64); Numba infers types itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def native(function: Function) -> Function:
    """Compiled by Numba when first needed."""
    options = {
        "error_model": "numpy",
        "boundscheck": False,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    return cast(Function, njit(**options)(function))
