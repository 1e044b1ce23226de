"""`pycuda.elementwise` on the emulator: kernels that do one thing to every element."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import Argument, ScalarArg, VectorArg, parse_arguments
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.driver.errors import missing_name, no_references
from grader.emulator.pycuda_api.tools import context_dependent_memoize

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
]

_SOURCE = """
{preamble}
extern "C" __global__ void {name}({arguments})
{{
    size_t first = (size_t)blockDim.x * blockIdx.x + threadIdx.x;
    size_t total_threads = (size_t)gridDim.x * blockDim.x;
    {loop_prep};
    {loop}
    {{
        {operation};
    }}
    {after_loop};
}}
"""
_ALL = "for (size_t i = first; i < n; i += total_threads)"
_SOME = (
    "for (long long i = start + (long long)first * step; step < 0 ? i > stop : i < stop; "
    "i += (long long)total_threads * step)"
)


def splay(n: int) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Grid and block for a loop over `n` elements, as PyCUDA chooses them."""
    most = 4 * 8 * driver.Context.get_device().multiprocessor_count
    warps = -(-n // 32)
    if warps <= most:
        return (max(warps, 1), 1), (32, 1, 1)
    return (most, 1), (min(-(-warps // most) * 32, 128), 1, 1)


# -- as PyCUDA builds kernels from lists of arguments
def get_elwise_module(
    arguments: Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """A module whose kernel `name` does `operation` for all `i` below `n`, which is the last of its arguments."""
    return _module(_ALL, arguments, operation, name, keep, options, preamble, loop_prep, after_loop)


def get_elwise_range_module(
    arguments: Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """The same for indices from `start` to `stop` by `step`, the last three of its arguments."""
    return _module(_SOME, arguments, operation, name, keep, options, preamble, loop_prep, after_loop)


def _module(
    loop: str,
    arguments: Sequence[Argument],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
    preamble: str,
    loop_prep: str,
    after_loop: str,
) -> SourceModule:
    parts = {"preamble": preamble, "loop_prep": loop_prep, "operation": operation, "after_loop": after_loop}
    declared = ", ".join(argument.declarator() for argument in arguments)
    source = with_complex(_SOURCE.format(**parts, name=name, arguments=declared, loop=loop))
    return SourceModule(source, keep=keep, options=options, no_extern_c=True)


def get_elwise_kernel_and_types(
    arguments: str | Sequence[Argument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **parts: str,
) -> tuple[SourceModule, driver.Function, list[Argument]]:
    """The module, its kernel, prepared, and the kernel's arguments: those given, and what the loop needs."""
    extra = (
        [ScalarArg(np.intp, each) for each in ("start", "stop", "step")]
        if use_range
        else [ScalarArg(np.uintp, "n")]
    )
    all_arguments = [*parse_arguments(arguments), *extra]
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(all_arguments, operation, name, keep, options, **parts)
    function = module.get_function(name)
    function.prepare("".join(argument.struct_char for argument in all_arguments))
    return module, function, all_arguments


def get_elwise_kernel(
    arguments: str | Sequence[Argument], operation: str, *args: Any, **named: Any
) -> driver.Function:
    """A prepared kernel that does `operation` for all `i` below its last argument, `n`."""
    return get_elwise_kernel_and_types(arguments, operation, *args, **named)[1]


def get_linear_combination_kernel(*_arguments: Any) -> NoReturn:
    raise driver.NotEmulated(
        "get_linear_combination_kernel: it reads through texture references, which are gone since CUDA 12; "
        "write the sum as an ElementwiseKernel"
    )


class ElementwiseKernel:
    """A kernel whose `operation`, a statement in C, is done for every index `i` of its arrays."""

    def __init__(
        self,
        arguments: str | Sequence[Argument],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        *,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self._arguments = parse_arguments(arguments)
        if not any(argument.is_vector for argument in self._arguments):
            raise ValueError("an ElementwiseKernel needs at least one vector argument")
        parts = {"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop}

        def build(use_range: bool) -> driver.Function:
            return get_elwise_kernel_and_types(
                self._arguments, operation, name, keep, options, use_range, **parts
            )[1]

        self._function = context_dependent_memoize(build)  # code belongs to a context

    def get_texref(self, name: str, use_range: bool = False) -> NoReturn:
        raise no_references(f"ElementwiseKernel.get_texref({name!r})")

    def __call__(
        self, *args: Any, range: Any = None, slice: Any = None, stream: driver.Stream | None = None
    ) -> None:
        """Do it for all elements, or for the indices of a `range` or `slice`."""
        if range is not None and slice is not None:
            raise TypeError("may not specify both range and slice keyword arguments")
        described = list(zip(args, self._arguments, strict=True))
        vectors = [value for value, known in described if known.is_vector]
        check_contiguous(*vectors)
        values = [value.gpudata if known.is_vector else value for value, known in described]
        size = vectors[0].size
        if slice is not None:
            range = builtins.range(*slice.indices(size))
        if range is None:
            count, last = size, [size]
        else:
            count, last = len(range), [range.start, range.stop, range.step]
        if not count:
            return
        grid, block = splay(count)
        self._function(range is not None).prepared_async_call(grid, block, stream, *values, *last)


def with_complex(source: str) -> str:
    """The source with PyCUDA's complex numbers, if it has any."""
    return f"#include <pycuda-complex.hpp>\n{source}" if "pycuda::" in source else source


def check_contiguous(*arrays: Any) -> None:
    """Kernels go through memory in order; raises RuntimeError for an array with gaps."""
    if not all(array.flags.forc for array in arrays):
        raise RuntimeError("only contiguous arrays may be used as arguments to this operation")


@context_dependent_memoize
def kernel(arguments: str, operation: str, name: str) -> ElementwiseKernel:
    """An ElementwiseKernel, made once for each context."""
    return ElementwiseKernel(arguments, operation, name)


def common_dtype(*operands: Any) -> np.dtype[Any]:
    """The type of a result: NumPy's rule, in which Python's numbers adapt to the arrays."""
    return np.result_type(*(getattr(operand, "dtype", operand) for operand in operands))


def __getattr__(name: str) -> Any:
    raise missing_name(f"pycuda.elementwise.{name} is not emulated; emulated are {', '.join(__all__)}")
