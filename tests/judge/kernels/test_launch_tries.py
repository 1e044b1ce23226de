"""What mends a wrong kernel by a turned launch is no remedy where each block then does what all of them do; sizes that
are exchanged in a grid are told, and so is another count than that of a scratch array."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.workbook import topics

LAUNCH = """// /// launch
// [[launch]]
// kernel = "{0}"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// ///
extern "C" __global__ void {0}({1})
"""

ADD = """{
    for (int i = blockIdx.x * gridDim.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) c[i] = a[i] + b[i];
}
"""
COUNT = """{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    bins[threadIdx.x] = counts[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("topic", "parameters", "body", "said"),
    [
        ("vector_add", "const float* a, const float* b, float* c, int N", ADD, "never written"),
        ("histogram", "const unsigned char* in, unsigned* bins, int N", COUNT, "race"),
    ],
)
def test_a_grid_of_one_side_is_not_turned(
    tmp_path: Path, topic: str, parameters: str, body: str, said: str, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(LAUNCH.format(topic, parameters) + body, "utf-8")
    reason = marked(topics.load(topic), file).reason or ""
    assert said in reason
    assert "exchanged" not in reason


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (
            "i = threadIdx.x * 256 + blockIdx.x",
            "With `blockIdx.x * 256 + threadIdx.x` in place of `threadIdx.x * 256 + blockIdx.x`",
        ),
        ("first = threadIdx.x * 256, i = first + blockIdx.x", "never written"),
    ],
)
def test_blocks_taken_for_threads_are_told_and_no_other_launch(
    index: str, said: str, tmp_path: Path, marked: Marking
) -> None:
    file, body = tmp_path / "mine.cu", f"const int {index}; if (i < N) c[i] = a[i] + b[i];"
    parameters = "const float* a, const float* b, float* c, int N"
    file.write_text(LAUNCH.format("vector_add", parameters) + f"{{ {body} }}\n", "utf-8")
    reason = marked(topics.load("vector_add"), file).reason or ""
    assert said in reason
    assert "exchanged" not in reason  # at larger sizes a block would have too many threads


TURNED = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(ALONG_X, 32)", "cdiv(ALONG_Y, 8)"]
// block = [32, 8]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int OF_X = blockIdx.x * 32 + threadIdx.x;
    const int OF_Y = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}
"""


@pytest.mark.parametrize(
    ("sizes", "indices", "said"),
    [
        ("MN", ("column", "row"), "the two sizes in `grid` exchanged in the launch block"),
        ("NM", ("row", "column"), "`row` and `column` exchanged in lines 9 and 10"),
    ],
)
def test_sizes_of_a_grid_and_indices_that_are_exchanged_are_told(
    tmp_path: Path, sizes: str, indices: tuple[str, str], said: str, marked: Marking
) -> None:
    file, text = tmp_path / "mine.cu", TURNED
    for old, new in zip(("ALONG_X", "ALONG_Y", "OF_X", "OF_Y"), (*sizes, *indices), strict=True):
        text = text.replace(old, new)
    file.write_text(text, "utf-8")
    reason = marked(topics.load("add_bias"), file).reason or ""
    assert f"With {said} it comes out right." in reason


A_ROW_A_BLOCK = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["GRID"]
// block = [32]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    int r = blockIdx.x;
    if (r >= M) return;
    const float* from = in + ROW;
    float* to = out + ROW;
    for (int i = threadIdx.x; i < N; i += 32) to[i] = from[i] + bias[i];
}
"""


@pytest.mark.parametrize(
    ("grid", "row", "said"),
    [
        ("N", "size_t(r) * N", "With `M` in place of `N` in `grid` in the launch block it comes out right."),
        ("M", "r", "With `size_t(r) * N` in place of `r` in lines 11 and 12 it comes out right."),
    ],
)
def test_the_only_size_of_a_grid_and_rows_that_blocks_store_over_are_told(
    tmp_path: Path, grid: str, row: str, said: str, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(A_ROW_A_BLOCK.replace("GRID", grid).replace("ROW", row), "utf-8")
    assert said in (marked(topics.load("add_bias"), file).reason or "")


STEPS = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(GRID, 32)"]
// block = ["TILE", BLOCK]
// ///
constexpr int TILE = 32, ROWS = 8;
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    __shared__ float tile[TILE][TILE];
    const int ty = threadIdx.y, x = blockIdx.x * TILE + threadIdx.x;
    for (int y = ty; y < ty + TILE; y += ROWS) {
        const int row = blockIdx.y * TILE + y;
        if (row < M && x < N) tile[y][threadIdx.x] = in[size_t(row) * N + x];
    }
    __syncthreads();
    for (int y = ty; y < ty + TILE; y += ROWS) {
        const int row = blockIdx.y * TILE + y;
        if (row < M && x < N) out[size_t(row) * N + x] = tile[y][threadIdx.x] + bias[x];
    }
}
"""


@pytest.mark.parametrize(
    ("grid", "block", "said"),
    [
        (
            "M",
            '"TILE"',
            '`["TILE", "ROWS"]` in place of `["TILE", "TILE"]` in line 5 it comes out right: the loop in line',
        ),
        (
            "M",
            "32",
            '`"ROWS"` in place of `32` in line 5 it comes out right: the loop in line 12 goes on by 8 threads',
        ),
        (
            "N",
            '"ROWS"',
            '`["cdiv(N, 32)", "cdiv(M, 32)"]` in place of `["cdiv(N, 32)", "cdiv(N, 32)"]` in line 4 it',
        ),
    ],
)
def test_the_threads_that_a_loop_steps_by_and_another_size_of_a_grid_are_told(
    tmp_path: Path, grid: str, block: str, said: str, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(STEPS.replace("GRID", grid).replace("BLOCK", block), "utf-8")
    assert f"With {said}" in (marked(topics.load("add_bias"), file).reason or "")


SUMS = """// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 256)"]
//
// [[launch]]
// kernel = "first"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "second"
// args = ["sums", "out", "{}"]
// grid = [1]
// block = [1]
// ///
extern "C" __global__ void first(const float* in, float* sums, int N)
{{
    __shared__ float own[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    own[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {{
        float sum = 0.0f;
        for (int t = 0; t < 256; ++t) sum += own[t];
        sums[{}] = sum;
    }}
}}
extern "C" __global__ void second(const float* sums, float* out, int count)
{{
    float sum = 0.0f;
    for (int b = 0; b < count; ++b) sum += sums[b];
    *out = sum;
}}
"""


@pytest.mark.parametrize(
    ("count", "place", "said"),
    [
        (
            "N",
            "blockIdx.x",
            "With `cdiv(N, 256)` in place of `N` in line 15 it comes out right. `sums` has as many elements.",
        ),
        ("cdiv(N, 256)", "i", "With `blockIdx.x` in place of `i` in line 28 it comes out right."),
    ],
)
def test_the_count_and_the_place_of_sums_of_blocks_are_told(
    tmp_path: Path, count: str, place: str, said: str, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(SUMS.format(count, place), "utf-8")
    assert said in (marked(topics.load("reduce"), file).reason or "")


STAGES = """// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(N, 256)"]
//
// [[launch]]
// kernel = "finish"
// grid = [1]
// block = [1]
// args = ["parts", "out", "cdiv(N, 256)"]
//
// [[launch]]
// kernel = "begin"
// grid = ["cdiv(N, 256)"]
// block = [1]
// args = ["in", "parts", "N"]
// ///
extern "C" __global__ void begin(const float* in, float* parts, int N)
{
    float sum = 0;
    for (int i = blockIdx.x * 256; i < N && i < (blockIdx.x + 1) * 256; ++i) sum += in[i];
    parts[blockIdx.x] = sum;
}
extern "C" __global__ void finish(float* parts, float* out, int count)
{
    float sum = 0;
    for (int k = 0; k < count; ++k) sum += parts[k];
    *out = sum;
}
"""


def test_launches_in_the_wrong_order_are_told(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(STAGES, "utf-8")
    reason = marked(topics.load("block_sum"), file, problem_overrides={"N": 1023}).reason or ""
    assert (
        "With the launches in lines 7 and 13 exchanged it comes out right. They run in their order" in reason
    )
    assert reason.endswith("`begin` has to fill `parts` before `finish` reads it.")
    assert "`zero`" not in reason


ZEROS = """// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 1024)"]
// block = [256]
// zero = ["out"]
//
// [[launch]]
// kernel = "rest"
// grid = [1]
// block = [4]
// zero = ["out"]
// ///
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    for (int k = 4 * i; i < N / 4 && k < 4 * i + 4; ++k) atomicAdd(out, in[k]);
}
extern "C" __global__ void rest(const float* in, float* out, int N)
{
    const int i = N / 4 * 4 + threadIdx.x;
    if (i < N) atomicAdd(out, in[i]);
}
"""


def test_an_output_that_a_later_launch_sets_to_zero_is_told(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(ZEROS, "utf-8")
    reason = marked(topics.load("block_sum"), file, problem_overrides={"N": 15}).reason or ""
    assert (
        "With `out` in `zero` of the launch in line 2 alone it comes out right: in line 12 it is set"
        in reason
    )


ONE_ELEMENT_EACH = """// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["BLOCK"]
// block = ["min(cdiv(N, BLOCK), 2 * SMS)"]
// zero = ["bins"]
// ///
constexpr int BLOCK = 512;
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&bins[in[i]], 1u);
}
"""


def test_what_is_exchanged_is_tried_on_the_smaller_device_that_the_kernel_is_wrong_on(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(ONE_ELEMENT_EACH, "utf-8")
    reason = marked(topics.load("histogram"), file, problem_overrides={"N": 65549}).reason or ""
    assert reason.startswith("As if the GPU had one multiprocessor")
    assert "exchanged" not in reason  # it has a thread for each element on a whole device alone


OF_SQUARES = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, WIDE)", "cdiv(M, HIGH)"]
// block = [8, 4]
// ///
constexpr int WIDE = 4;
constexpr int HIGH = 8;
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * WIDE + threadIdx.x;
    const int row = blockIdx.y * HIGH + threadIdx.y;
    if (row < M && column < N) out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
}
"""


@pytest.mark.parametrize(("wide", "high", "block"), [("2", "8", '"WIDE", "HIGH"'), ("16", "16", "16, 16")])
def test_a_block_that_differs_along_both_axes_from_what_is_counted_is_told_with_both(
    wide: str, high: str, block: str, tmp_path: Path, marked: Marking
) -> None:
    text = OF_SQUARES.replace("WIDE = 4", f"WIDE = {wide}").replace("HIGH = 8", f"HIGH = {high}")
    if "WIDE" not in block:
        text = text.replace("* WIDE", f"* {wide}").replace("* HIGH", f"* {high}")
    file = tmp_path / "mine.cu"
    file.write_text(text, "utf-8")
    reason = marked(topics.load("add_bias"), file, problem_overrides={"M": 33, "N": 1}).reason or ""
    assert reason.endswith(
        f"With `block = [{block}]` in line 5 it comes out right. Line 11 counts {wide} threads a block in x, and line "
        f"12 counts {high} in y."
    )
