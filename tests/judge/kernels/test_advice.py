"""What a right kernel is told beside a claim of the next rung that it does not keep."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from grader.emulator import metrics
from grader.emulator.machine.records import Counted
from grader.emulator.places import GIVEN, Place
from grader.judge.child.protocol import Record
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.workbook import topics
from grader.workbook.kernel_file import parse_source

COPY = """// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < N) {
        atomicAdd(&counts[in[i]], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
    bins[256] = 0;
}
"""
BY_GRID = COPY.replace("if (i < N) {", "for (; i < N; i += gridDim.x * 256) {")


@pytest.mark.parametrize(
    ("source", "others", "measured", "told"),
    [
        (COPY, 10, "store_requests", True),
        (COPY, 100, "store_requests", False),  # other lines update as often
        (COPY, 10, "load_requests", False),
        (COPY.replace("&bins[threadIdx.x], counts[", "&bins[in[i]], counts["), 10, "store_requests", False),
        (BY_GRID, 10, "store_requests", False),  # which is what is told
    ],
)
def test_blocks_that_are_too_many_to_hand_on_a_copy_each_are_told_so(
    source: str, others: int, measured: str, told: bool
) -> None:
    file = parse_source(source, topics.load("histogram").signature, Path("mine.cu"))
    lines = (
        Counted(Place(GIVEN, 18), {metrics.GLOBAL_REQUESTS["red"]: 400}),
        Counted(Place(GIVEN, 19), {metrics.GLOBAL_REQUESTS["st"]: others}),
    )
    record = cast(Record, SimpleNamespace(grid=(50, 1, 1), lines=lines))
    current = KernelSubmission("mine.cu", file=file, counted=((record,),))
    assert (
        "line 18, where each of 50 blocks adds its `counts` to `bins`" in current.advice({measured})
    ) == told
