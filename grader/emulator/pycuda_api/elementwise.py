"""`pycuda.elementwise` on the emulator: kernels that do one thing to every element."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.tools import context_dependent_memoize, ctype_to_dtype

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


@dataclass(frozen=True)
class Argument:
    """One parameter of a kernel, from its declaration in C."""

    declaration: str
    is_vector: bool  # a pointer, for which an array is passed
    letter: str  # of the format string


def parse_arguments(text: str) -> list[Argument]:
    """The parameters of "float *z, const float *x, int n". Raises ValueError for a type not known."""
    return [_parse_argument(declaration.strip()) for declaration in text.split(",")]


def _parse_argument(declaration: str) -> Argument:
    is_vector = bool(re.search(r"[*\[]", declaration))
    if is_vector:
        return Argument(re.sub(r"(\w+)\s*\[\s*\]", r"*\1", declaration), True, "P")
    words = [word for word in declaration.split() if word != "const"]
    return Argument(declaration, False, ctype_to_dtype(" ".join(words[:-1])).char)


def splay(n: int) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Grid and block for a loop over `n` elements, as PyCUDA chooses them."""
    most = 4 * 8 * driver.Context.get_device().multiprocessor_count
    warps = -(-n // 32)
    if warps <= most:
        return (max(warps, 1), 1), (32, 1, 1)
    return (most, 1), (min(-(-warps // most) * 32, 128), 1, 1)


class ElementwiseKernel:
    """A kernel whose `operation`, a statement in C, is done for every index `i` of its arrays."""

    def __init__(
        self,
        arguments: str,
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
        self._name, self._keep, self._options = name, keep, options
        self._parts = {
            "preamble": preamble,
            "name": name,
            "loop_prep": loop_prep,
            "operation": operation,
            "after_loop": after_loop,
        }
        self._function = context_dependent_memoize(self._build)  # code belongs to a context

    def _build(self, loop: str, extra: str) -> driver.Function:
        arguments = [*self._arguments, *parse_arguments(extra)]
        declarations = ", ".join(argument.declaration for argument in arguments)
        source = _SOURCE.format(**self._parts, loop=loop, arguments=declarations)
        function = SourceModule(
            source, keep=self._keep, options=self._options, no_extern_c=True
        ).get_function(self._name)
        return function.prepare("".join(argument.letter for argument in arguments))

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
            function, count, last = self._function(_ALL, "size_t n"), size, [size]
        else:
            function = self._function(_SOME, "long long start, long long stop, long long step")
            count, last = len(range), [range.start, range.stop, range.step]
        grid, block = splay(count)
        function.prepared_async_call(grid, block, stream, *values, *last)


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
    raise AttributeError(f"pycuda.elementwise.{name} is not emulated; emulated is ElementwiseKernel")
