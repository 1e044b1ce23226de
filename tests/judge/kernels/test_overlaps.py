"""Blocks that store each other's elements are told how far apart they begin, and how many each takes."""

from __future__ import annotations

from pathlib import Path

from marking import Marking

from grader.judge.correctness.cases import CaseStore, make
from grader.judge.kernels import overlaps
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.kernel_file import parse_source

ROWS = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, BLOCK_Y)"]
// block = [32, "BLOCK_Y"]
// ///
constexpr int BLOCK_Y = 8;
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    for (int r = row; r < row + 64; r += 8)
        if (r < M && column < N) out[(size_t)r * N + column] = in[(size_t)r * N + column] + bias[column];
}
"""


def test_of_blocks_that_take_several_rows_a_thread_the_distance_and_the_grid_are_told(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(ROWS, "utf-8")
    result = marked(topics.load("add_bias"), file, problem_overrides={"M": 127, "N": 129})
    assert result.verdict == "timeout"
    assert (
        "The 16 blocks along y, which have 64 rows each, begin 8 rows apart. Multiply blockIdx.y by 64, and not by 8. "
        "The grid then needs cdiv(M, 64) of them, and not cdiv(M, BLOCK_Y)." in (result.reason or "")
    )
    assert "comes out right" not in (result.reason or "")


def test_a_loop_of_fewer_turns_by_which_blocks_store_less_of_each_other_s_elements_is_known() -> None:
    topic, case = topics.load("add_bias"), make({"M": 127, "N": 129}, "exact")
    fewer = [(ROWS.replace("row + 64", "row + 32"), True), (ROWS.replace("row + 64", "row + 8"), False)]
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.judge() as child:
        runner = CaseRunner(topic, CaseStore(topic), child)
        for text, still in fewer:
            kernel = prepare(parse_source(text, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
            assert overlaps.there_are(runner, kernel, case) == still
