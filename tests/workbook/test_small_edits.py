"""Which small changes of an expression are tried, and which of them first."""

from __future__ import annotations

import time

import pytest

from grader.workbook.edit import instead
from grader.workbook.small_edits import constants_of, edits, of_launch

SOURCE = """\
#include <cuda_fp16.h>
#define TWICE(x) (2 * (x))
constexpr int PACK = 4;
__device__ void count(unsigned* counts, unsigned w)
{
    atomicAdd(&counts[w & 0xff00 >> 8], 1);  // a & b >> 3 in a comment
    atomicAdd(&counts[w & 0xff0000 >> 16], 1);
}
__global__ void k(const float* a, float* c, int N)
{
    const float4* packs = reinterpret_cast<const float4*>(a);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == gridDim.x && i < N / PACK) c[size_t(i) * N] += packs[i].x;
    c[N - i % 4] = a[i];
    if (blockIdx.x < 9 && 0xff) c[N] = __shfl_up_sync(~0u, i, 2);
    for (int half = 8 | i; half + 4 < N; half /= 2) c[half - i] = 0;
}
"""
EDITS = list(edits(SOURCE))
MADE = {edit.said: edit for edit in EDITS}


@pytest.mark.parametrize(
    ("said", "line", "becomes"),
    [
        ("`N` in place of `N / PACK` in line 13", 13, "i < N) c[size_t(i) * N]"),
        ("`i <= N / PACK` in place of `i < N / PACK` in line 13", 13, "&& i <= N / PACK)"),
        ("`i < N / PACK - 1` in place of `i < N / PACK` in line 13", 13, "&& i < N / PACK - 1)"),
        (
            "`blockIdx.x == gridDim.x` in place of `blockIdx.x == gridDim.x && i < N / PACK` in line 13",
            13,
            "if (blockIdx.x == gridDim.x) c",
        ),
        ("`blockIdx.x == gridDim.x - 1` in place of `blockIdx.x == gridDim.x` in line 13", 13, "gridDim.x - 1 &&"),
        ("`size_t(i)` in place of `size_t(i) * N` in line 13", 13, "c[size_t(i)] +="),
        ("`c[size_t(i) * N] =` in place of `c[size_t(i) * N] +=` in line 13", 13, "c[size_t(i) * N] = packs"),
        ("`packs[i].y` in place of `packs[i].x` in line 13", 13, "+= packs[i].y;"),
        ("`(N - i) % 4` in place of `N - i % 4` in line 14", 14, "c[(N - i) % 4] = a[i];"),
        ("`N - i` in place of `N - i % 4` in line 14", 14, None),
        ("`2` in place of `4` in line 14", 14, "c[N - i % 2] = a[i];"),
        ("`a[N]` in place of `a[i]` in line 14", 14, "c[N - i % 4] = a[N];"),
        ("`blockDim.x` in place of `blockIdx.x * blockDim.x` in line 12", 12, "i = blockDim.x + threadIdx.x;"),
        (
            "`blockIdx.x * blockDim.x` in place of `blockIdx.x * blockDim.x + threadIdx.x` in line 12",
            12,
            "i = blockIdx.x * blockDim.x;",
        ),
        ("`float4` in place of `float4* packs` in line 11", 11, None),
        ("`gridDim.x` in place of `blockIdx.x` in line 12", 12, "i = gridDim.x * blockDim.x + threadIdx.x;"),
        ("`threadIdx.x * N` in place of `threadIdx.x` in line 12", 12, "blockDim.x + threadIdx.x * N;"),
        ("`blockIdx.x * blockDim.x * threadIdx.x` in place of `blockIdx.x * blockDim.x + threadIdx.x` in line 12", 12,
         "blockIdx.x * blockDim.x * threadIdx.x;"),
        ("`blockIdx.x < 9 & 0xff` in place of `blockIdx.x < 9 && 0xff` in line 15", 15, "blockIdx.x < 9 & 0xff)"),
        ("`c` in place of `a` in line 14", 14, "= c[i];"),
        ("`__shfl_down_sync` in place of `__shfl_up_sync` in line 15", 15, "__shfl_down_sync(~0u, i, 2);"),
        ("`i` in place of `__shfl_up_sync(~0u, i, 2)` in line 15", 15, "c[N] = i;"),
        ("`* (N / 4)` in place of `* N` in line 13", 13, "c[size_t(i) * (N / 4)]"),
        ("`4 * i` in place of `4` in line 16", 16, "half + 4 * i < N"),
        ("`8 ^ i` in place of `8 | i` in line 16", 16, "half = 8 ^ i;"),
        ("`half - i - 1` in place of `half - i` in line 16", 16, "c[half - i - 1]"),
        ("`w` in place of `1` in line 6", 6, "atomicAdd(&counts[w & 0xff00 >> 8], w);"),
    ],
)  # fmt: skip
def test_what_is_tried(said: str, line: int, becomes: str | None) -> None:
    if becomes is None:
        assert said not in MADE
    else:
        assert becomes in MADE[said].applied(SOURCE).splitlines()[line - 1]


def test_what_several_lines_have_in_common_is_changed_in_all_of_them_at_once_and_first_of_all() -> None:
    first = EDITS[0]
    assert first.said == (
        "`(w & 0xff00) >> 8` in place of `w & 0xff00 >> 8` in line 6, and likewise in line 7,"
    )
    assert first.why == "`>>` is done before `&`."
    assert first.applied(SOURCE).splitlines()[5:7] == [
        "    atomicAdd(&counts[(w & 0xff00) >> 8], 1);  // a & b >> 3 in a comment",
        "    atomicAdd(&counts[(w & 0xff0000) >> 16], 1);",
    ]


def test_of_as_likely_ones_those_of_the_lines_at_fault_come_first() -> None:
    near = [edit.said for edit in edits(SOURCE, near=(14,))]
    assert set(near) == MADE.keys()
    elsewhere, likelier = (
        "`PACK` in place of `w` in line 6",
        "`blockIdx.x` in place of `blockIdx.x * blockDim.x` in line 12",
    )
    assert near.index(likelier) < near.index("`a[N]` in place of `a[i]` in line 14") < near.index(elsewhere)


def test_the_length_of_other_rows_comes_before_other_names() -> None:
    head = "__global__ void f(float* a, int N, int K)\n{\n"
    body = "    for (int j = 0; j < K; j++) a[blockIdx.x * K + j] += 2;\n"
    said = [edit.said for edit in edits(f"{head}{body}}}\n")]
    rows = next(place for place, each in enumerate(said) if "* N` in place of" in each and "* K`" in each)
    assert rows < said.index("`j < N` in place of `j < K` in line 3")


def test_a_condition_is_not_made_one_that_never_holds() -> None:
    said = [edit.said for edit in edits("void f(int own, int v) {\n    if (own == v) return;\n}\n")]
    assert any("`own != v`" in each for each in said)
    assert not any("v + 1" in each or "v - 1" in each for each in said)


def test_a_bound_of_constants_is_not_multiplied_by_one() -> None:
    constants = "constexpr int BLOCK = 256;\nconstexpr int R = 8;\n"
    text = "void f(int p, int n) {\n    if (p < BLOCK + R && p < 2 + n) s[p + R] = v[n + 4];\n}\n"
    said = [edit.said for edit in edits(constants + text)]
    assert "`p + R * BLOCK` in place of `p + R` in line 4" in said
    assert not any("`BLOCK * R`" in each or "`R * BLOCK`" in each or "2 * BLOCK`" in each for each in said)


def test_all_elements_are_multiplied_by_a_size_alone() -> None:
    head = "constexpr int BLOCK = 256;\n__global__ void f(int M, int N) {\n"
    said = [
        edit.said for edit in edits(f"{head}    int filled = min(BLOCK, N - int(blockIdx.x) * BLOCK);\n}}\n")
    ]
    assert "`N * M` in place of `N` in line 3" in said
    assert not any("N * BLOCK" in each for each in said)


def test_axes_are_exchanged_only_where_there_are_two() -> None:
    assert not any("blockIdx.y" in said for said in MADE)
    assert any(
        "`blockIdx.x`" in edit.said for edit in edits(SOURCE.replace("% 4", "% threadIdx.y + blockIdx.y"))
    )


LAUNCH = """\
// Of grid = "N + 1".
//
// /// launch
// [[launch]]
// kernel = "k"
// grid = ["cdiv(N, BLOCK * PACK)", "M"]
// block = ["BLOCK"]
// args = ["a", "N // 4"]
// when = "M % 4 == 0"
//
// [[launch]]
// kernel = "k"
// grid = [1]
// block = [256]
// when = "M % 4 != 0"
// ///
constexpr int BLOCK = 256;
constexpr int PACK = 4;
"""


def test_in_a_launch_block_numbers_stay_and_no_size_takes_another_s_place_but_in_conditions() -> None:
    assert {edit.said for edit in of_launch(LAUNCH, ("M", "N"), constants_of(LAUNCH))} == {
        "`BLOCK` in place of `BLOCK * PACK` in line 6",
        "`PACK` in place of `BLOCK * PACK` in line 6",
        "`PACK` in place of `BLOCK` in line 6",
        "`BLOCK` in place of `PACK` in line 6",
        "`PACK` in place of `BLOCK` in line 7",
        "`PACK` in place of `BLOCK` in lines 6 and 7",
        "`N` in place of `N // 4` in line 8",
        "`N` in place of `M` in lines 9 and 15",
        "`N` in place of `M` in line 9",
        "`N` in place of `M` in line 15",
    }


def test_no_text_takes_long() -> None:
    for long in ("a[(" * 6000, "a[b * c] + " * 1800, "a[" * 9000 + "]" * 2000, "int a, b, c; " * 1500):
        start = time.process_time()
        assert sum(1 for _ in edits("__global__ void k(int* a) {" + long)) < 10_000
        assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    ("line", "at", "said"),
    [
        ("out[size_t(column) * N + row] = in[size_t(row) * N + column];", "* N",
         "`size_t(column) * M` in place of `size_t(column) * N`"),
        ("tile[threadIdx.x][threadIdx.x] = a[1] * N;", "* N", "`* M` in place of `* N`"),
        ("if (k * N < M && row[k] * N < M) {", "* N", "`k * M` in place of `k * N`"),
    ],
)  # fmt: skip
def test_what_is_changed_is_quoted_so_far_that_it_is_one_place(line: str, at: str, said: str) -> None:
    assert instead(line, line.index(at), line.index(at) + len(at), "* M") == said


def test_an_array_in_shared_memory_is_tried_for_one_in_global_memory_and_the_other_way_round() -> None:
    source = (
        "__global__ void k(const float* in) {\n__shared__ float tile[8];\ns += in[i];\nt += tile[i];\n}\n"
    )
    made = {edit.said for edit in edits(source)}
    assert {"`tile` in place of `in` in line 3", "`in` in place of `tile` in line 4"} <= made
