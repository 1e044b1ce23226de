"""How the runtime's functions are compiled: no Python objects, no bounds checks, division as in C."""

from __future__ import annotations

from numba import njit

native = njit(error_model="numpy", boundscheck=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
