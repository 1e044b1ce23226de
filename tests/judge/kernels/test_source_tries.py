"""Small changes are tried where a kernel was stopped for what it stores again and again, however large the case; of
threads that store to one element those of either line; and a change has to get all public cases of the topic right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from marking import Marking

from grader.findings.remedies import SAME_CHANGE
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.kernels import launch_tries, source_tries
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.edit import Edit
from grader.workbook.kernel_file import parse_source

WRONG = Path(__file__).parents[2] / "submissions"


@pytest.mark.parametrize(
    ("file", "size", "said"),
    [
        (
            "vector_add/every_thread_adds_all.cu",
            4099,
            "With `size_t i = blockIdx.x * blockDim.x + threadIdx.x` and `i += gridDim.x * blockDim.x` in line 12 it "
            "comes out right",
        ),
        (
            "stencil/halo_over_the_middle.cu",
            255,
            "With `tile[t + BLOCK]` in place of `tile[threadIdx.x + BLOCK]`",
        ),
        ("vector_add/block_after_the_last.cu", 1, "With `blockIdx.x == gridDim.x - 1` in place of"),
        ("vector_add/divided_by_four_twice.cu", 1, "With `N` in place of `N // 4` in line 8 it"),
        (
            "vector_add/numbers_multiplied.cu",
            2,
            "With `blockIdx.x * blockDim.x + threadIdx.x` in place of `blockIdx.x * blockDim.x * threadIdx.x`",
        ),
        ("block_sum/lane_and_warp_exchanged.cu", 1, "With `/` and `%` exchanged in lines 15 and 16 it comes"),
    ],
)
def test_what_mends_it_is_found(file: str, size: int, said: str, marked: Marking) -> None:
    topic = topics.load(file.partition("/")[0])
    assert said in (marked(topic, WRONG / file, problem_overrides={"N": size}).reason or "")


OF_ITS_BLOCK = """\
// /// launch
// [[launch]]
// kernel = "rows_and_columns"
// grid = ["cdiv(cols, 4)", "cdiv(rows, 4)"]
// block = [4, 4]
// ///
extern "C" __global__ void rows_and_columns(const int* x, int* y, int rows, int cols)
{
    const int row = threadIdx.y;
    const int col = threadIdx.x;
    const int i = col;
    if (row < rows && col < cols) y[i] = x[i] + row;
}
"""


def test_an_index_of_which_threads_store_each_others_elements_is_mended(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "rows_and_columns.cu"
    file.write_text(OF_ITS_BLOCK, "utf-8")
    result = marked(topics.load("rows_and_columns", or_exercise=True), file)
    assert result.findings[0].kind == "race"
    assert result.mended_line == 9
    assert re.search(
        r"With `blockIdx\.y \* blockDim\.y \+ threadIdx\.y` .* in line 9 and .* in line 10 and `row \* cols \+ col` "
        r"in place of `col` in line 11 it comes out right",
        result.mended or "",
    )


@pytest.mark.parametrize("threads", ["4", "SIDE"])
def test_lines_that_go_by_the_number_of_threads_of_a_block_are_left_as_they_are(
    threads: str, tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "rows_and_columns.cu"
    ours = OF_ITS_BLOCK.replace("= threadIdx.", f"= {threads} * blockIdx._ + threadIdx.")
    for axis in ("y", "x"):
        ours = ours.replace("Idx._", f"Idx.{axis}", 1)
    file.write_text(f"constexpr int SIDE = 4;\n{ours}", "utf-8")
    result = marked(topics.load("rows_and_columns", or_exercise=True), file)
    assert (result.mended or "").startswith(
        "With `row * cols + col` in place of `col` in line 12 it comes out"
    )


TEXT = """\
// Half of a sum, twice.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///

#include <cuda_fp16.h>

__constant__ float scale[2] = {1.0f, 1.0f};

__device__ float half_of(float x)
{
    return 0.5f * x;
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    __shared__ float tile[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < N) {
        tile[threadIdx.x] = half_of(a[i] + b[i]);
        c[i] = 2.0f * scale[i % 2] * tile[threadIdx.x];
    }
}
"""


def _edit(old: str, new: str, one_of_all: bool = True) -> Edit:
    at = TEXT.index(old)
    return Edit(f"`{new}` in place of `{old}`", 1, ((at, at + len(old), new),), any=one_of_all)


def test_changed_texts_are_compiled_together_and_one_that_is_refused_takes_no_other_along() -> None:
    topic = topics.load("vector_add")
    kernel = prepare(parse_source(TEXT, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
    edits = [
        _edit("0.5f * x", "0.25f * x"),
        _edit("[i % 2]", "[i %]"),  # is refused
        _edit("i < N", "N < N"),  # leaves no access
        _edit("i < N", "N < N", one_of_all=False),
        _edit("* 128 +", "* 64 +\n"),
    ]
    made = {edit.said: changed for edit, changed in source_tries.compiled(kernel, edits)}
    assert [*made] == [edits[0].said, edits[3].said, edits[4].said]
    for changed in made.values():
        assert changed.build.ptx.count(".entry") == 1
        assert changed.build.resources.keys() == set(changed.build.lowered.values())
    first, *_ = made.values()
    assert "0f3E800000" in first.build.ptx  # 0.25
    assert "0f3F000000" not in first.build.ptx  # 0.5, of the others


MADE_FOR_A_SIDE = """\
// /// launch
// [[launch]]
// kernel = "transpose<SIDE, float>"
// grid = ["cdiv(N, SIDE)", "cdiv(M, SIDE)"]
// block = ["SIDE", "SIDE"]
// ///
constexpr int SIDE = 8;
template <int S, typename T>
__global__ void transpose(const T* in, T* out, int M, int N)
{
    const int x = blockIdx.x * S + threadIdx.x, y = blockIdx.y * S + threadIdx.y;
    if (x < N && y < M) out[size_t(x) * N + y] = in[size_t(y) * N + x];
}
"""


def test_a_template_that_is_made_for_a_constant_is_changed_as_well(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(MADE_FOR_A_SIDE, "utf-8")
    assert "With `size_t(x) * M` in place of `size_t(x) * N` in line 12" in (
        marked(topics.load("transpose"), file).reason or ""
    )


def test_of_a_kernel_that_is_long_when_it_is_compiled_few_changes_are_tried() -> None:
    file = WRONG / "histogram" / "own_counts_in_bytes.cu"
    kernel = prepare(
        parse_source(file.read_text("utf-8"), topics.load("histogram").signature, file), DEFAULT_ARCH
    )
    tried = source_tries._candidates(kernel, None, (), True)
    assert any("`unsigned char`" in edit.said for edit in tried)
    assert len(tried) <= 8


def test_no_array_is_made_so_large_that_there_is_room_for_what_is_wrong() -> None:
    text = "constexpr int BLOCK = 256;\nconstexpr int R = 8;\n__shared__ float s[{}], tile[2][{}];\n"
    before = text.format("BLOCK + R", "R")
    assert source_tries._enlarges(before, text.format("BLOCK + BLOCK", "R"))
    assert source_tries._enlarges(before, text.format("BLOCK + R", "BLOCK"))
    assert not source_tries._enlarges(before, text.format("BLOCK + 2 * R", "R"))


HOPS = """\
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK * PER)"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 128;
constexpr int PER = 8;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int start = blockIdx.x * BLOCK * PER + threadIdx.x;
    for (int k = 0; k < PER; k++) {
        const int i = start + k;
        if (i < N)
            c[i] = a[i] + b[i];
    }
}
"""


def test_a_change_by_which_threads_do_far_more_is_not_run_at_large_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic, thorough = topics.load("vector_add"), list[int]()
    run = CaseRunner._run

    def seen(self: CaseRunner, kernel: Kernel, case: Case, outcome: Outcome, more: bool) -> None:
        if more and kernel.file.source != HOPS:
            thorough.append(int(case.problem["N"]))
        run(self, kernel, case, outcome, more)

    monkeypatch.setattr(CaseRunner, "_run", seen)
    all_by_each = Edit("`k < N`", 12, ((at := HOPS.index("PER; k++"), at + 3, "N"),), any=True)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        runner = CaseRunner(topic, cases.CaseStore(topic), child)
        kernel = prepare(parse_source(HOPS, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
        tried = launch_tries.to_be_right(runner, cases.make({"N": 255}, "exact"))
        assert source_tries.mended(runner, kernel, tried, None, among=[all_by_each]) is None
    assert 0 < max(thorough) < 4099


def test_behind_what_mends_them_all_no_finding_has_another_remedy(marked: Marking) -> None:
    file = WRONG / "transpose" / "step_of_another_number.cu"
    result = marked(topics.load("transpose"), file, problem_overrides={"M": 1, "N": 131})
    first, *others = [finding.remedy for finding in result.findings]
    assert first is not None
    assert first in (result.reason or "")
    assert first.startswith("With `blockDim.y` in place of `STEP`")
    assert others == [SAME_CHANGE]


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


SHARES = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["PARTS"]
// block = [32]
// ///
constexpr int PARTS = 8;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int share = (N + 6) / PARTS;
    const int first = blockIdx.x * share;
    for (int i = first + threadIdx.x; i < min(N, first + share); i += 32) c[i] = a[i] + b[i];
}
"""


def test_one_block_that_takes_what_all_are_to_take_mends_nothing(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(SHARES, "utf-8")
    result = marked(topics.load("vector_add"), file, problem_overrides={"N": 129})
    assert result.verdict == "fail"
    assert "`(N + 6)` in place of `(N + 6) / PARTS`" not in (result.reason or "")


def test_behind_a_number_that_is_moved_it_has_to_be_right_as_well() -> None:
    topic, text = topics.load("vector_add"), "N >= 9000 && N <= 32000"
    moved, near = (Edit(new, 1, ((5, 9, new),), any=True) for new in ("18000", "9001"))
    case = cases.make({"N": 10001}, "exact")
    assert [each.problem for each in source_tries.behind(topic, moved, text, case)] == [{"N": 19001}]
    assert not list(source_tries.behind(topic, near, text, case))


OWN_ELEMENTS = """// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 32]
// ///
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][32];
    const int row = blockIdx.y * 32 + threadIdx.y;
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }
    tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + column];
    __syncthreads();
    out[size_t(column) * M + row] = tile[threadIdx.x][threadIdx.y];
}
"""


def test_a_change_by_which_threads_exchange_nothing_is_told_as_that(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(OWN_ELEMENTS, "utf-8")
    reason = marked(topics.load("transpose"), file, problem_overrides={"M": 33, "N": 31}).reason or ""
    assert "line 17 it comes out right, but each thread then reads only what it has stored itself" in reason
    assert "Let a thread write to row `blockIdx.x * 32 + threadIdx.y`" in reason


def test_a_right_kernel_is_told_of_a_tile_by_which_threads_exchange_nothing() -> None:
    right = OWN_ELEMENTS.replace("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x]")
    file = parse_source(right, topics.load("transpose").signature, Path("mine.cu"))
    advice = KernelSubmission("mine.cu", file=file).advice()
    assert "In line 17 each thread reads only what it has stored itself in `tile`" in advice


SEVERAL = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, GRID)"]
// block = ["B"]
// ///
constexpr int B = 32;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int first = blockIdx.x * B;
    const int i = first + threadIdx.x;
    if (i < N) for (int k = 0; k < 4 && i + k < N; k++) c[i + k] = a[i + k] + b[i + k];
}
"""


@pytest.mark.parametrize(
    ("grid", "loop", "size", "said", "unsaid"),
    [
        # 4 times as many blocks store each element 4 times.
        pytest.param("B * 4", "int k = 0; k < 4 && i + k < N", 129, "were never written", "in place of `B * 4`",
                     marks=pytest.mark.verify),
        ("B", "int k = 0; k < 4", 1, "With `k < 4 && i + k < N` in place of `k < 4` in line 12", "`i` in place"),
        # A loop that does the same 4 times.
        pytest.param("B", "int k = 3; k >= 0", 1, "out of bounds", "in place of `i + k`", marks=pytest.mark.verify),
    ],
)  # fmt: skip
def test_no_change_leads_away_from_several_elements_a_thread(
    grid: str, loop: str, size: int, said: str, unsaid: str, tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    text = SEVERAL.replace("GRID", grid).replace("int k = 0; k < 4 && i + k < N", loop)
    text = text.replace("k++", "k--") if ">=" in loop else text
    file.write_text(text, "utf-8")
    reason = marked(topics.load("vector_add"), file, problem_overrides={"N": size}).reason or ""
    assert said in reason
    assert unsaid not in reason


def test_a_return_in_front_of_a_barrier_is_told_and_not_the_right_indices(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    behind = "__syncthreads();\n    const int y = blockIdx.x * 32 + threadIdx.y, x = blockIdx.y * 32 + threadIdx.x;"
    turned = OWN_ELEMENTS.replace("__syncthreads();", behind).replace(
        "size_t(column) * M + row]", "size_t(y) * M + x]"
    )
    file.write_text(turned, "utf-8")
    reason = marked(topics.load("transpose"), file, problem_overrides={"M": 1, "N": 131}).reason or ""
    assert (
        "With the `return` in line 13 deleted, `if (row < M && column < N)` in front of the load in line"
        in reason
    )


def test_a_right_kernel_is_told_of_a_barrier_behind_a_threads_own_condition() -> None:
    right = OWN_ELEMENTS.replace(
        "row >= M || column >= N) {\n        return;\n    }", "row < M && column < N) {"
    )
    file = parse_source(right + "}\n", topics.load("transpose").signature, Path("mine.cu"))
    advice = KernelSubmission("mine.cu", file=file).advice()
    assert (
        "The __syncthreads() in line 14 stands behind the `if` of line 12, which depends on the thread."
        in advice
    )


SUM = """// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///
constexpr int BLOCK = 64;
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < W; k++)
        if (i + k * BLOCK < N) sum += in[i + k * BLOCK];
    s[t] = sum;
    __syncthreads();
    for (int h = BLOCK / 2; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
"""


def test_a_block_of_several_elements_a_thread_begins_behind_those_of_others_and_there_are_fewer(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(SUM.replace("W", "4"), "utf-8")
    reason = marked(topics.load("block_sum"), file, problem_overrides={"N": 257}).reason or ""
    assert (
        "With `(4 * blockDim.x)` in place of `blockDim.x` in line 13, and `cdiv(N, BLOCK * 4)` in place of "
        "`cdiv(N, BLOCK)` in `grid` it comes out right."
    ) in reason


def test_a_loop_that_hides_what_is_wrong_when_it_has_no_turn_is_not_changed() -> None:
    topic = topics.load("block_sum")
    by_all = SUM.replace("W", "1").replace("if (t == 0) atomicAdd(out, s[0])", "atomicAdd(out, s[t] * 1.0f)")
    never = Edit("`BLOCK % 2`", 19, ((at := by_all.index("/ 2; h"), at + 1, "%"),), any=True)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        runner = CaseRunner(topic, cases.CaseStore(topic), child)
        tried = [cases.make({"N": size}, "exact") for size in (2, 65)]
        hidden = [
            source_tries._Known(
                runner, prepare(parse_source(text, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
            ).cut_short(never, tried)
            for text in (by_all, by_all.replace("s[t] * 1.0f", "t ? 0 : s[0]"))
        ]
    assert hidden == [True, False]


BY_GRID = """// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["GRID"]
// block = [256]
// zero = ["out"]
// ///
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += in[i];
    STORE
}
"""


@pytest.mark.parametrize(
    ("grid", "store", "said"),
    [
        (
            "cdiv(N, 256)",
            "out[0] = sum;",
            "With `atomicAdd(&out[0], sum)` in place of `out[0] = sum` in line 12 and `size_t i` in place of `int i` "
            "in line 11 it comes out right.",
        ),
        (
            "min(cdiv(N, 256), 64)",
            "if (threadIdx.x == 0) out[0] = sum;",
            "With `if (threadIdx.x == 0)` in line 12 deleted and `atomicAdd(&out[0], sum)` in place of `out[0] = sum` "
            "in line 12 it comes out right.",
        ),
    ],
)
def test_threads_that_have_parts_of_a_sum_are_told_to_add_them(
    grid: str, store: str, said: str, tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(BY_GRID.replace("GRID", grid).replace("STORE", store), "utf-8")
    reason = marked(topics.load("block_sum"), file).reason or ""
    assert said in reason
    assert "Let one thread store" not in reason


def test_a_counter_by_which_an_index_may_be_below_0_keeps_a_sign(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(
        """\
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// ///
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
        float sum = 0.0f;
        for (int k = -8; k <= 8; k++) sum += in[min(max(i + k, 0), N - 1)];
        out[i] = sum;
    }
}
""",
        "utf-8",
    )
    reason = marked(topics.load("stencil"), file).reason or ""
    assert "With `(i + k >= 0 && i + k < N ? in[i + k] : 0)` in place of" in reason
    assert "and `long long i` in place of `int i`" in reason


OF_ONE_ROW = """\
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 4)"]
// block = ["32", "4"]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    float b = 0.0f;
    if (threadIdx.y == 0) b = x < N ? bias[x] : 0.0f;
    if (x < N && y < M) out[size_t(y) * N + x] = in[size_t(y) * N + x] + b;
}
"""
OF_ONE_THREAD = """\
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    int first = 0;
    if (threadIdx.x == 0) {
        first = blockIdx.x * 256 + threadIdx.x;
    }
    const int i = first + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
"""


ONE_SUM = """\
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 64)"]
// block = ["64"]
// ///
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float sum;
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= N) return;
    sum = 0.0f;
    for (int k = i - 8; k <= i + 8; ++k) {
        if (k >= 0 && k < N) sum += in[k];
    }
    out[i] = sum;
}
"""


@pytest.mark.parametrize(
    ("topic", "text", "sizes", "said"),
    [
        ("stencil", ONE_SUM, {"N": 2},
         "With `float sum` in place of `__shared__ float sum` in line 9 it comes out right. In shared memory a block "
         "has one `sum`, and each thread is to have its own."),
        ("add_bias", OF_ONE_ROW, {"M": 3, "N": 4},
         "With `if (threadIdx.y == 0)` in line 11 left out it comes out right. Each thread has a variable `b` of its "
         "own, which only some threads of a block set there."),
        ("vector_add", OF_ONE_THREAD, {"N": 1023},
         "With `__shared__ int first;` in line 9 and a __syncthreads() behind line 12 it comes out right. Each thread "
         "has a variable `first` of its own, which only some threads of a block set there."),
    ],
)  # fmt: skip
def test_a_variable_that_others_set_than_use_it_is_told(
    topic: str, text: str, sizes: dict[str, int], said: str, tmp_path: Path, marked: Marking
) -> None:
    (tmp_path / "mine.cu").write_text(text, "utf-8")
    assert said in (marked(topics.load(topic), tmp_path / "mine.cu", problem_overrides=sizes).reason or "")


STORED_BACK = """\
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        const unsigned before = atomicAdd(&bins[in[i]], 1u);
        bins[in[i]] = before + 1;
    }
}
"""


def test_of_a_line_that_the_mistake_is_said_to_be_in_no_race_is_advised_on(
    tmp_path: Path, marked: Marking
) -> None:
    (tmp_path / "mine.cu").write_text(STORED_BACK, "utf-8")
    found = marked(topics.load("histogram"), tmp_path / "mine.cu", problem_overrides={"N": 15}).reason or ""
    assert "leave `bins[in[i]] = before + 1;` out. Line 13: race: " in found
    assert "atomicAdd(&bins[…]" not in found


FOURS = """\
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 4 * 256)"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const long long q = blockIdx.x * 256 + threadIdx.x;
    if (4 * q < N) {
        const float4 u = ((const float4*)a)[q], v = ((const float4*)b)[q];
        ((float4*)c)[q] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    } else {
        for (long long j = 4 * q; j < N; ++j) c[j] = a[j] + b[j];
    }
}
"""


def test_a_change_that_has_far_more_done_is_not_tried_further(
    tmp_path: Path, marked: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, again = tmp_path / "mine.cu", list[Case]()
    file.write_text(FOURS, "utf-8")
    run_again = CaseRunner._run_again

    def counted(self: CaseRunner, attempt: CaseRun, seconds: float, outcome: Outcome) -> None:
        again.append(attempt.case)
        run_again(self, attempt, seconds, outcome)

    monkeypatch.setattr(CaseRunner, "_run_again", counted)
    reason = marked(topics.load("vector_add"), file).reason or ""
    assert "`4 * q + 3 < N`" in reason
    assert not [case for case in again if case.problem["N"] > 4096]


OF_PACKS = """\
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["min(8, cdiv(N, 1024))"]
// block = ["256"]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int t = threadIdx.x;
    const uchar4* in4 = (const uchar4*)in;
    const int n4 = N / 4;
    for (int i = blockIdx.x * 256 + t; i < n4; i += gridDim.x * 256) {
        atomicAdd(&bins[in4[i].x], 1u);
        atomicAdd(&bins[in4[i].y], 1u);
        atomicAdd(&bins[in4[i].z], 1u);
        atomicAdd(&bins[in4[i].w], 1u);
    }
    if (t < N % 4) {
        atomicAdd(&bins[in[n4 * 4 + t]], 1u);
    }
}
"""


def test_what_each_block_takes_of_a_rest_is_mended_where_the_sums_tell_how_much_it_is(
    tmp_path: Path, marked: Marking
) -> None:
    (tmp_path / "mine.cu").write_text(OF_PACKS, "utf-8")
    result = marked(topics.load("histogram"), tmp_path / "mine.cu", problem_overrides={"N": 8195})
    assert "With `blockIdx.x == 0 &&` in front of the condition in line 19 it" in (result.reason or "")
    assert result.mended_line == 19


PADDED = """\
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, TILE)", "cdiv(M, TILE)"]
// block = ["TILE", "TILE"]
// ///
constexpr int TILE = 8;
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[TILE * TILE];
    const int x = threadIdx.x, y = threadIdx.y, pitch = TILE + 1;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    if (row < M && column < N) tile[y * pitch + x] = in[size_t(row) * N + column];
    __syncthreads();
    column = blockIdx.y * TILE + x, row = blockIdx.x * TILE + y;
    if (row < N && column < M) out[size_t(row) * M + column] = tile[x * pitch + y];
}
"""
IN_ROWS = PADDED.replace("y * pitch + x", "y][x").replace("x * pitch + y", "x][y")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            PADDED,
            "With `tile[TILE * (TILE + 1)]` in place of `tile[TILE * TILE]` in line 10 it comes out right.",
        ),
        (
            IN_ROWS.replace("TILE * TILE", "TILE][TILE / 2"),
            "With `tile[TILE][TILE]` in place of `tile[TILE][TILE / 2]` in line 10 it comes out right. A row of `tile` "
            "is shorter than its index: what is beyond the end lies in the next row.",
        ),
        (
            IN_ROWS.replace("TILE * TILE", "TILE / 2][TILE + 1"),
            "With `tile[TILE][TILE + 1]` in place of `tile[TILE / 2][TILE + 1]` in line 10 it comes out right.",
        ),
        (
            PADDED.replace("__shared__ float tile[TILE * TILE]", "extern __shared__ float tile[]").replace(
                "// ///\nconst", '// shared = "4 * TILE * TILE"\n// ///\nconst'
            ),
            "With `TILE * (TILE + 1)` in place of `TILE * TILE` in line 6 it comes out right.",
        ),
    ],
)
def test_an_array_in_shared_memory_is_made_longer_before_its_index_is_made_smaller(
    text: str, said: str, tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(text, "utf-8")
    result = marked(topics.load("transpose"), file, problem_overrides={"M": 33, "N": 31})
    assert said in (result.reason or "")


READ_ONCE = """\
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["M"]
// block = [32]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const float* from = in + size_t(blockIdx.x) * N;
    float* to = out + size_t(blockIdx.x) * N;
    if (threadIdx.x >= N) return;
    const float shift = bias[threadIdx.x];
    for (int i = threadIdx.x; i < N; i += 32) {
        to[i] = from[i] + shift;
    }
}
"""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "With `bias[i]` in place of `shift` in line 14 it comes out right. Line 12 sets `shift`"),
        (
            {"const float shift = bias[threadIdx.x]": "int i = threadIdx.x; float shift = bias[i]",
             "int i = threadIdx.x; i < N": "; i < N"},
            "With `bias[i]` in place of `shift` in line 14 it comes out right. Line 12 sets `shift`",
        ),
        (
            {"float shift": "float x = from[threadIdx.x], shift", "from[i]": "x"},
            "With `from[i]` in place of `x` in line 14 and `bias[i]` in place of `shift` in line 14 it comes out "
            "right. Line 12 sets `x` and line 12 sets `shift`",
        ),
    ],
)  # fmt: skip
def test_what_is_read_once_before_a_loop_is_tried_to_be_read_in_it(
    changes: dict[str, str], said: str, tmp_path: Path, marked: Marking
) -> None:
    text = READ_ONCE
    for old, new in changes.items():
        text = text.replace(old, new)
    file = tmp_path / "mine.cu"
    file.write_text(text, "utf-8")
    result = marked(topics.load("add_bias"), file, problem_overrides={"M": 2, "N": 70})
    assert f"{said} once, before the loop, which goes on to other elements." in (result.reason or "")
