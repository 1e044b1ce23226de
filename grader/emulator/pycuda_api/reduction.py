"""`pycuda.reduction` on the emulator: sums, maxima and the like over whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import Argument, dtype_to_ctype, parse_arguments
from grader.emulator.pycuda_api.arrays.device_array import GPUArray
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.driver.errors import missing_name
from grader.emulator.pycuda_api.elementwise import check_contiguous, with_complex
from grader.emulator.pycuda_api.tools import context_dependent_memoize

_BLOCK = 512
_MOST_BLOCKS = 1024
_EACH = 4  # elements a thread takes at least

_SOURCE = """
#define READ_AND_MAP(i) ({map_expr})
#define REDUCE(a, b) ({reduce_expr})
{preamble}
typedef {out_type} out_type;
extern "C" __global__ void {name}(out_type *out, {arguments}, unsigned seq_count, size_t n)
{{
    extern __shared__ __align__(16) unsigned char raw[];
    out_type *sdata = (out_type *)raw;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * blockDim.x * seq_count + tid;
    out_type acc = {neutral};
    for (unsigned s = 0; s < seq_count && i < n; ++s, i += blockDim.x)
        acc = REDUCE(acc, READ_AND_MAP(i));
    sdata[tid] = acc;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {{
        __syncthreads();
        if (tid < half)
            sdata[tid] = REDUCE(sdata[tid], sdata[tid + half]);
    }}
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}}
"""


class ReductionKernel:
    """Maps elements by `map_expr` (of index `i`) and joins the results by `reduce_expr` (of `a` and `b`)."""

    def __init__(
        self,
        dtype_out: npt.DTypeLike,
        neutral: str | float,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        self._arguments = parse_arguments(arguments or f"const {dtype_to_ctype(dtype_out)} *in")
        self._parts = {
            "reduce_expr": reduce_expr,
            "preamble": preamble,
            "out_type": dtype_to_ctype(dtype_out),
            "neutral": str(neutral),
        }
        self._map_expr = map_expr or "in[i]"
        self._name, self._keep, self._options = name, keep, options
        self._stage = context_dependent_memoize(self._build)

    def _build(self, stage: int) -> driver.Function:
        """Stage 1 reads the arguments, stage 2 the partial results, with the arguments still in sight."""
        partial = f"const {self._parts['out_type']} *partial_results, " if stage == 2 else ""
        parts = self._parts | {
            "map_expr": self._map_expr if stage == 1 else "partial_results[i]",
            "arguments": partial + ", ".join(argument.declarator() for argument in self._arguments),
            "name": f"{self._name}_stage{stage}",
        }
        source = with_complex(_SOURCE.format(**parts))
        module = SourceModule(source, keep=self._keep, options=self._options, no_extern_c=True)
        function = module.get_function(parts["name"])
        letters = "".join(argument.struct_char for argument in self._arguments)
        return function.prepare(("PP" if stage == 2 else "P") + letters + "IN")

    def __call__(
        self, *args: Any, stream: driver.Stream | None = None, out: Any = None, allocator: Any = None
    ) -> Any:
        """The result, as an array of shape ()."""
        vectors = [value for value, known in zip(args, self._arguments, strict=True) if known.is_vector]
        check_contiguous(*vectors)
        values = [(value.gpudata or 0) if hasattr(value, "gpudata") else value for value in args]
        stage, size = 1, vectors[0].size
        while True:
            blocks = max(min(-(-size // (_BLOCK * _EACH)), _MOST_BLOCKS), 1)
            each = max(-(-size // (blocks * _BLOCK)), _EACH)
            last = blocks == 1
            if last and out is not None:
                if out.dtype != self.dtype_out:
                    raise ValueError(f"out must have the same dtype as dtype_out, {self.dtype_out}")
                result = out
            else:
                result = GPUArray(() if last else blocks, self.dtype_out, allocator or vectors[0].allocator)
            shared = _BLOCK * self.dtype_out.itemsize
            self._stage(stage).prepared_async_call(
                (blocks, 1), (_BLOCK, 1, 1), stream, result.gpudata, *values, each, size, shared_size=shared
            )
            if last:
                return result
            values, stage, size = [result.gpudata, *values[stage - 1 :]], 2, blocks


def __getattr__(name: str) -> Any:
    raise missing_name(f"pycuda.reduction.{name} is not emulated; emulated is ReductionKernel")
