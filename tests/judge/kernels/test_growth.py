"""A block that was stopped is told whether it comes to its end where there is less to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judge.correctness.cases import CaseStore, make
from grader.judge.kernels import growth
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.kernel_file import parse_source

ONE_BLOCK = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = [1]
// block = [32]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    for (int i = threadIdx.x; i < N; i += 32) {
        unsigned x = 1;
        for (int k = 0; TURNS; ++k) x = x * 1664525u + 1013904223u + (k & x);
        c[i] = a[i] + b[i] + (x == 0 ? 1 : 0);
    }
}
"""


@pytest.mark.parametrize(
    ("turns", "told"),
    [("k < 8000", True), ("k < 1000 || N > 8192 && x != 0", False)],
    ids=["slow", "endless at the last size alone"],
)
def test_what_ends_at_smaller_sizes_and_grows_with_them_is_not_called_endless(turns: str, told: bool) -> None:
    topic, problem = topics.load("vector_add"), {"N": 65537}
    case = make(problem, "exact")
    kernel = prepare(
        parse_source(ONE_BLOCK.replace("TURNS", turns), topic.signature, Path("mine.cu")), DEFAULT_ARCH
    )
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.judge() as child:
        runner = CaseRunner(topic, CaseStore(topic), child)
        outcome = runner.outcome(kernel, case)
        assert outcome.refusal is not None
        assert outcome.refusal.verdict == "timeout"
        said = growth.told(runner, kernel, case, outcome)
    assert bool(said) == told
    assert not told or said.startswith("Where N=8192, it executed ")
