"""Small changes are tried where a kernel was stopped for what it stores again and again, however large the case; of
threads that store to one element those of either line; and a change has to get all public cases of the topic right."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.workbook import topics

WRONG = Path(__file__).parents[2] / "submissions"


@pytest.mark.parametrize(
    ("file", "size", "said"),
    [
        (
            "vector_add/every_thread_adds_all.cu",
            4099,
            "and `i += gridDim.x * blockDim.x` in line 12 it comes out right",
        ),
        (
            "stencil/halo_over_the_middle.cu",
            255,
            "With `tile[t + BLOCK]` in place of `tile[threadIdx.x + BLOCK]`",
        ),
        ("block_sum/lane_and_warp_exchanged.cu", 1, "With `/` and `%` exchanged in lines 15 and 16 it comes"),
    ],
)
def test_what_mends_it_is_found(file: str, size: int, said: str, marked: Marking) -> None:
    topic = topics.load(file.partition("/")[0])
    assert said in (marked(topic, WRONG / file, problem_overrides={"N": size}).reason or "")


def test_behind_what_mends_them_all_no_finding_has_another_remedy(marked: Marking) -> None:
    file = WRONG / "transpose" / "step_of_another_number.cu"
    result = marked(topics.load("transpose"), file, problem_overrides={"M": 1, "N": 131})
    first, *others = [finding.remedy for finding in result.findings]
    assert first is not None
    assert first in (result.reason or "")
    assert first.startswith("With `blockDim.y` in place of `STEP`")
    assert others == [None]


PACKS = """// /// launch
// [[launch]]
// kernel = "packs"
// when = "N % 4 == 0"
// grid = ["cdiv(N, 128)", "cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "add_bias"
// when = "N % 4 != 0"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///
extern "C" __global__ void packs(const float* in, const float* bias, float* out, int M, int N)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= N || y >= M) return;
    const float4 b = ((const float4*)bias)[x];
    const float4 a = ((const float4*)in)[(size_t)y * (N / 4) + x];
    ((float4*)out)[(size_t)y * (N / 4) + x] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    if (x < N && y < M) out[(size_t)y * N + x] = in[(size_t)y * N + x] + bias[x];
}
"""


def test_what_is_right_at_few_sizes_mends_nothing(tmp_path: Path, marked: Marking) -> None:
    """With x and y of the threads exchanged a block takes 32 rows and the 8 vectors of a row of 32, by chance."""
    file = tmp_path / "mine.cu"
    file.write_text(PACKS, "utf-8")
    result = marked(topics.load("add_bias"), file, problem_overrides={"M": 32, "N": 32})
    assert "`x >= N`, counts elements, and the index counts packs of 4" in (result.reason or "")
