"""`pycuda.scan` on the emulator: running sums and the like over arrays of one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import dtype_to_ctype
from grader.emulator.pycuda_api.arrays.device_array import GPUArray
from grader.emulator.pycuda_api.arrays.making import empty_like
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.driver.errors import missing_name
from grader.emulator.pycuda_api.elementwise import check_contiguous, with_complex
from grader.emulator.pycuda_api.tools import context_dependent_memoize

_BLOCK = 128
_EACH = 8  # neighbouring elements of a thread
_MOST_BLOCKS = 1024

# A block goes over its interval in chunks. Each thread joins its own elements, then the threads' totals are scanned in
# shared memory. Joining keeps the order of the elements, for operations in which it matters. The first of three
# launches gives each interval's total, the second scans these, the third scans each interval from the total before it.
_SOURCE = """
#define SCAN(a, b) ({scan_expr})
{preamble}
typedef {scan_type} scan_type;

extern "C" __global__ void {name}(
    const scan_type *in, scan_type *out, scan_type *totals, const scan_type *before, size_t n, size_t interval)
{{
    extern __shared__ __align__(16) unsigned char raw[];
    scan_type *joined = (scan_type *)raw;
    const unsigned tid = threadIdx.x;
    const size_t begin = blockIdx.x * interval, end = begin + interval < n ? begin + interval : n;
    bool has_carry = before && blockIdx.x;
    scan_type carry = {neutral};
    if (has_carry)
        carry = before[blockIdx.x - 1];
    for (size_t chunk = begin; chunk < end; chunk += {block} * {each}) {{
        const size_t first = chunk + tid * {each};
        const size_t last = first + {each} < end ? first + {each} : end;
        scan_type own = {neutral};
        for (size_t i = first; i < last; ++i)
            own = i == first ? in[i] : SCAN(own, in[i]);
        joined[tid] = own;
        for (unsigned step = 1; step < {block}; step *= 2) {{
            __syncthreads();
            scan_type here = joined[tid];
            if (tid >= step && first < end)
                here = SCAN(joined[tid - step], here);
            __syncthreads();
            joined[tid] = here;
        }}
        __syncthreads();
        scan_type running = carry;
        bool has_running = has_carry;
        if (tid) {{
            running = has_carry ? SCAN(carry, joined[tid - 1]) : joined[tid - 1];
            has_running = true;
        }}
        if (out)
            for (size_t i = first; i < last; ++i) {{
                const scan_type next = has_running ? SCAN(running, in[i]) : in[i];
                out[i] = {exclusive} ? running : next;
                running = next;
                has_running = true;
            }}
        const size_t done = end - chunk < {block} * {each} ? end - chunk : {block} * {each};
        const scan_type all = joined[(done - 1) / {each}];
        carry = has_carry ? SCAN(carry, all) : all;
        has_carry = true;
        __syncthreads();
    }}
    if (totals && tid == 0)
        totals[blockIdx.x] = carry;
}}
"""


class _ScanKernel:
    """Joins each element with all before it by `scan_expr` (of `a`, what came before, and `b`)."""

    _exclusive = False

    def __init__(
        self,
        dtype: npt.DTypeLike,
        scan_expr: str,
        neutral: str | float | None = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        if self._exclusive and neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        self.dtype, self.neutral = np.dtype(dtype), neutral
        parts = {
            "preamble": preamble,
            "scan_type": dtype_to_ctype(dtype),
            "scan_expr": scan_expr,
            "block": _BLOCK,
            "each": _EACH,
        }

        def build(exclusive: bool) -> driver.Function:
            name = f"{name_prefix}_{'exclusive' if exclusive else 'inclusive'}"
            start = "scan_type()" if neutral is None else neutral
            source = _SOURCE.format(**parts, name=name, neutral=start, exclusive=str(exclusive).lower())
            module = SourceModule(with_complex(source), options=options, no_extern_c=True)
            return module.get_function(name).prepare("PPPPNN")

        self._kernel = context_dependent_memoize(build)

    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | str | None = None,
        allocator: Any = None,
        stream: driver.Stream | None = None,
    ) -> GPUArray:
        """The scan of an array of shape (n,): in its place, in `output_ary`, or in a new array for "new"."""
        allocator = allocator or input_ary.allocator
        if isinstance(output_ary, str):
            if output_ary != "new":
                raise ValueError(f'output_ary is an array, "new" or None, not {output_ary!r}')
            output_ary = empty_like(input_ary, allocator=allocator)
        result = input_ary if output_ary is None else output_ary
        if input_ary.shape != result.shape:
            raise ValueError("input and output must have the same shape")
        check_contiguous(input_ary, result)
        (size,) = input_ary.shape
        if not size:
            return result
        chunk = _BLOCK * _EACH
        interval = -(-size // (_MOST_BLOCKS * chunk)) * chunk
        blocks = -(-size // interval)
        totals = allocator(blocks * self.dtype.itemsize)

        def run(exclusive: bool, blocks: int, *arguments: Any) -> None:
            self._kernel(exclusive).prepared_async_call(
                (blocks, 1),
                (_BLOCK, 1, 1),
                stream,
                *arguments,
                shared_size=_BLOCK * self.dtype.itemsize,
            )

        source, target = input_ary.gpudata, result.gpudata
        if blocks > 1:
            run(False, blocks, source, 0, totals, 0, size, interval)
            run(False, 1, totals, totals, 0, 0, blocks, blocks)
        run(self._exclusive, blocks, source, target, 0, totals, size, interval)
        return result


class InclusiveScanKernel(_ScanKernel):
    """Each result has its own element joined in."""


class ExclusiveScanKernel(_ScanKernel):
    """Each result has the elements before its own; the first is `neutral`."""

    _exclusive = True


def __getattr__(name: str) -> Any:
    raise missing_name(
        f"pycuda.scan.{name} is not emulated; emulated are InclusiveScanKernel, ExclusiveScanKernel"
    )
