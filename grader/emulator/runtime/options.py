"""How Numba compiles the runtime's functions: no Python objects, no bounds checks, division as in C, as far as LLVM IR.

Annotations in the runtime are for the reader and the type checker (`int` is int64); Numba infers types itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering

Function = TypeVar("Function", bound=Callable[..., Any])


def native(function: Function) -> Function:
    """Compiled by Numba when first needed."""
    options = {
        "error_model": "numpy",
        "boundscheck": False,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "pipeline_class": _ToLlvm,
    }
    return cast(Function, njit(**options)(function))


@register_pass(mutates_CFG=False, analysis_only=False)
class _Nameplate(LoweringPass):  # type: ignore[misc]
    """Ends a function at LLVM IR. Numba knows what is called by its entry, a built-in function; without machine code
    there is none, and any will do that no other function has."""

    _name = "nameplate"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library.finalize()
        entry = [state.library].append
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=entry)
        return True


class _ToLlvm(CompilerBase):  # type: ignore[misc]
    """Numba's passes without machine code, which `build` makes, once for all functions together."""

    def define_pipelines(self) -> list[Any]:
        self.state.flags.no_compile = True
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_Nameplate, NativeLowering)
        passes.finalize()
        return [passes]
