"""What findings are given from the source: the `return` by which threads have left that are missing."""

from __future__ import annotations

import pytest
from records import record

from grader.emulator import metrics
from grader.emulator.machine.records import Finding
from grader.judge.correctness.findings import located

SOURCE = """__global__ void k(int n)
{
    if (threadIdx.x >= n) return;
    __syncthreads();
}
"""


@pytest.mark.parametrize(
    ("threads", "lanes", "warps", "line"),
    [
        (128, 128, 4, None),
        (128, 100, 4, 3),
        (100, 100, 4, None),  # the last warp has four lanes, and all have come
        (100, 64, 2, None),  # some warps have not come, in which nobody is missing
        (100, 98, 4, 3),
    ],
)
def test_a_return_is_named_where_threads_are_missing(
    threads: int, lanes: int, warps: int, line: int | None
) -> None:
    counted = {4: {metrics.THREAD_INSTRUCTIONS: lanes, metrics.WARP_INSTRUCTIONS: warps}}
    given = record(block=(threads, 1, 1), line_counters=counted, findings=(Finding("barrier", 4, 1),))
    ((found,),) = (item.findings for item in located([given], {}, SOURCE))
    assert found.returned == line
