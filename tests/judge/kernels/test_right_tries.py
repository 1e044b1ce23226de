"""A right kernel is told the grid, and the place to begin at, by which it no longer does its work several times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from records import record

from grader.judge.correctness.cases import CaseStore, make
from grader.judge.kernels import right_tries, submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.kernel_submission import KernelSubmission
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
    for (int r = 0; r < 8; ++r)
        if (row + r < M && column < N)
            out[(size_t)(row + r) * N + column] = in[(size_t)(row + r) * N + column] + bias[column];
}
"""

FOURS = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (i + k < N) c[i + k] = a[i + k] + b[i + k];
    }
}
"""

COUNTS = """// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["GRID"]
// block = [256]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += gridDim.x * 256) atomicAdd(&s[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
"""

LOOP = FOURS[FOURS.index("    const") : FOURS.rindex("}")]
STRIDE = FOURS.replace(
    LOOP,
    """    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256)
        c[i] = a[i] + b[i];
""",
)
HELD = FOURS.replace(  # in registers, whose indices are no longer those of the elements
    "    for", "    float x[4];\n    for (int k = 0; k < 4; k++) x[k] = i + k < N ? a[i + k] : 0;\n    for"
).replace("= a[i + k] +", "= x[k] +")
TWICE = FOURS.replace(
    "    for",
    "    __shared__ float x[256 + 3];\n"
    "    for (int k = threadIdx.x; k < 259; k += 256) x[k] = i - threadIdx.x + k < N ? a[i - threadIdx.x + k] : 0;\n"
    "    __syncthreads();\n    for",
).replace("= a[i + k] +", "= x[threadIdx.x + k] +")


ROW_BY_ROW = ROWS.replace("r < 8", "r < 8 && row + r < M")
FROM_ROW = ROWS.replace("int r = 0; r < 8", "int r = row; r < row + 8").replace("row + r", "r")
BY_BLOCK = FOURS.replace("i + k", "i + k * blockDim.x")
OF_GRID = (
    STRIDE.replace("cdiv(N, 256)", "8")
    .replace("size_t(blockIdx.x) * 256 + threadIdx.x", "(blockIdx.x * 256 + threadIdx.x) * 4")
    .replace(
        "c[i] = a[i] + b[i]", "for (int k = 0; k < 4; k++) if (i + k < N) c[i + k] = a[i + k] + b[i + k]"
    )
)
BACKWARDS = FOURS.replace("int k = 0; k < 4; k++", "int k = 3; k >= 0; k--")


TILE = """// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 32]
// ///
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    if (x < N && y < M)
        tile[threadIdx.y][threadIdx.x] = in[(size_t)y * N + x];
    __syncthreads();
    if (x < N && y < M)
        out[(size_t)x * M + y] = tile[threadIdx.y][threadIdx.x];
}
"""


NARROW = (
    TILE.replace("[32][33]", "[T][T + 1]")
    .replace("[32, 32]", '["T", "T"]')
    .replace("32", "T")
    .replace("extern", "constexpr int T = 16;\nextern")
    .replace("();\n", "(); x = blockIdx.x * T + threadIdx.y; y = blockIdx.y * T + threadIdx.x;\n")
    .replace("= tile[threadIdx.y][threadIdx.x]", "= tile[threadIdx.x][threadIdx.y]")
)


def told(name: str, text: str, rung: str, **counted: int) -> str:
    """What a kernel is to change first on its way to a rung, with other sizes that are counted."""
    topic = topics.load(name)
    topic = replace(topic, sizes_count={**topic.sizes_count, **counted})
    current = KernelSubmission(name="mine.cu", file=parse_source(text, topic.signature, Path("mine.cu")))
    submission.compile_it(current, DEFAULT_ARCH)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        runner = CaseRunner(topic, CaseStore(topic), child)
        submission.count(current, runner, [make(topic.sizes_count, "exact")], passed_on_gpu=False)
        submission.claim(current, runner, topic.claims, topic.claim_sizes)
        return right_tries.told(runner, current, rung)


def test_a_thread_that_adds_to_its_own_element_stores_no_other_s() -> None:
    """As each element is set to zero before, those of other blocks are not those that nobody has stored."""
    text = FOURS.replace("// ///\nextern", '// zero = ["c"]\n// ///\nextern').replace("i + k", "i")
    adds = text.replace("k < 4", "k < 2").replace("c[i] = a[i] + b[i]", "c[i] += k == 0 ? a[i] : b[i]")
    assert told("vector_add", adds, "00_naive", N=1 << 16) == ""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "add_bias",
            ROWS,
            "Line 14 stores each element of `out` 8 times: a thread takes 8 in the loop of line 12, and the next one "
            "begins as near to it as if it took one. Begin at `(blockIdx.y * BLOCK_Y + threadIdx.y) * 8` in line 11, "
            "and let `grid` be cdiv(M, BLOCK_Y * 8) in place of cdiv(M, BLOCK_Y).",
        ),
        (
            "vector_add",
            FOURS,
            "Line 11 stores each element of `c` 4 times: a thread takes 4 in the loop of line 10, and the next one "
            "begins as near to it as if it took one. Begin at `size_t(blockIdx.x) * (256 * 4) + threadIdx.x` in line "
            "9, with the loop `for (int k = 0; k < 4 * 256; k += 256)`, and let `grid` be cdiv(N, 256 * 4) in place "
            "of cdiv(N, 256).",
        ),
        (
            "vector_add",
            HELD,
            "Begin at `(size_t(blockIdx.x) * 256 + threadIdx.x) * 4` in line 9, and let `grid` be cdiv(N, 256 * 4) in "
            "place of cdiv(N, 256).",
        ),
        (
            "add_bias",
            ROW_BY_ROW,
            "in line 11, and let `grid` be cdiv(M, BLOCK_Y * 8) in place of cdiv(M, BLOCK_Y).",
        ),
        (
            "add_bias",
            FROM_ROW,
            "in line 11, and let `grid` be cdiv(M, BLOCK_Y * 8) in place of cdiv(M, BLOCK_Y).",
        ),
        (
            "vector_add",
            BY_BLOCK,
            "Begin at `4 * size_t(blockIdx.x) * 256 + threadIdx.x` in line 9, and let `grid` be cdiv(N, 256 * 4) in "
            "place of cdiv(N, 256).",
        ),
        (
            "vector_add",
            OF_GRID,
            "a thread takes 4 in the loop of line 10, and that of line 9 goes on as if it took one. Go on by `4 * "
            "size_t(gridDim.x) * 256` in line 9.",
        ),
        (
            "vector_add",
            BACKWARDS,
            "Line 11 stores elements of `c` that other threads store as well. Let each be one thread's: where a "
            "thread takes several, those of the next one begin behind them, and the grid has as many times fewer "
            "threads.",
        ),
        (
            "vector_add",
            TWICE,
            "in place of cdiv(N, 256). What else depends on it, such as a tile, follows.",
        ),
    ],
)
def test_of_elements_that_are_stored_again_the_line_is_told_and_where_to_begin(
    name: str, text: str, said: str
) -> None:
    fewer = {"N": 1 << 16} if name == "vector_add" else {"M": 128}
    assert told(name, text, "00_naive", **fewer).endswith(said)


VECTORS = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["SMS * 8"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int fours = N / 4;
    const int first = blockIdx.x * 256 + threadIdx.x;
    for (int i = first; i < fours; i += gridDim.x * 256) {
        const float4 x = ((const float4*)a)[i], y = ((const float4*)b)[i];
        ((float4*)c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    for (int i = fours + first; i < N; i += gridDim.x * 256) {
        c[i] = a[i] + b[i];
    }
}
"""


def test_of_elements_that_two_lines_store_it_is_told_where_the_second_begins() -> None:
    """Not that loads are not coalesced, where each is, and there are too many of them."""
    said = told("vector_add", VECTORS, "01_one_element", N=1 << 16)
    assert said.startswith(
        "Lines 13 and 16 store some elements of `c` twice. With `4 * fours` in place of `fours` in"
    )
    mended = VECTORS.replace("fours + first", "4 * fours + first")
    assert not told("vector_add", mended, "03_float4", N=1 << 16)
    unknown = VECTORS.replace("fours + first", "N / 3 + first")
    said = told("vector_add", unknown, "01_one_element", N=1 << 16)
    assert said.startswith("Lines 13 and 16 store elements of `c` that other threads store as well.")


def test_of_a_loop_over_the_grid_that_is_gone_through_once_the_grid_is_told() -> None:
    said = told("vector_add", STRIDE, "02_grid_stride")
    assert "cdiv(N, 256) in line 4 is so many blocks that a thread goes through it once" in said
    assert "With min(SMS * 8, cdiv(N, 256)) it has all that" in said


@pytest.mark.parametrize(
    ("grid", "fewer"),
    [
        ("cdiv(N, 256)", "min(SMS * 8, cdiv(N, 256 * 32))"),
        ("min(SMS * 8, cdiv(N, 256))", "min(SMS * 8, cdiv(N, 256 * 32))"),
        ("SMS * 8", "min(SMS * 8, cdiv(N, 256 * 32))"),
    ],
)
def test_of_blocks_that_have_little_to_do_a_grid_is_told_with_more_for_each(grid: str, fewer: str) -> None:
    text = COUNTS.replace("GRID", grid)
    assert f"With {fewer} it has all that" in told("histogram", text, "01_block_copy", N=1 << 16)


@pytest.mark.parametrize(
    ("first", "all_of"), [("0", "`x`. "), ("threadIdx.x", "`x` from its own place on. ")]
)
def test_of_a_tile_that_each_thread_fills_it_is_told_how_they_share_it(first: str, all_of: str) -> None:
    text = TWICE.replace("k = threadIdx.x; k < 259; k += 256", f"k = {first}; k < 256; k++").replace(
        "k < 4", "k < 1"
    )
    said = f"Line 11: each thread of the block fills all of {all_of}Let them share it, with `k = threadIdx.x` and"
    assert told("vector_add", text, "00_naive", N=1 << 16).startswith(said)


def test_a_grid_is_not_told_that_is_not_what_a_rung_lacks() -> None:
    assert not told("vector_add", STRIDE, "03_float4")
    assert not told("vector_add", STRIDE.replace("cdiv(N, 256)", "32"), "02_grid_stride"), (
        "it holds, and is slow"
    )
    assert not told("vector_add", FOURS.replace("k < 4", "k < 1"), "02_grid_stride", N=1 << 16)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TILE, "With `x = blockIdx.x * 32 + threadIdx.y; y = blockIdx.y * 32 + threadIdx.x;` behind the barrier in "
         "line 14 and `tile[threadIdx.x][threadIdx.y]` in place of `tile[threadIdx.y][threadIdx.x]` in line 16, "
         "it reads the tile by columns"),
        (TILE.replace("block = [32, 32]", "block = [32, 8]")
         .replace("if (x < N && y < M)", "for (int j = 0; j < 32; j += 8) if (x < N && y + j < M)")
         .replace("(size_t)y * N", "(size_t)(y + j) * N").replace("* M + y", "* M + y + j")
         .replace("tile[threadIdx.y]", "tile[threadIdx.y + j]"),
         "columns for that, with its indices exchanged."),
        (TILE.replace("= tile[threadIdx.y][threadIdx.x]", "= in[(size_t)y * N + x]"), ""),
    ],
)  # fmt: skip
def test_a_tile_that_exchanges_nothing_is_told_how_it_is_turned(text: str, said: str) -> None:
    found = told("transpose", text, "01_coalesced_writes", M=64, N=64)
    assert said in found
    assert bool(said) == found.startswith(
        "The tile is there, and in line 16 each thread reads only what it has"
    )


def test_of_a_tile_that_is_stored_along_rows_already_the_loads_are_told() -> None:
    text = TILE.replace("32 + threadIdx.x", "32 + threadIdx.t").replace(
        "32 + threadIdx.y", "32 + threadIdx.x"
    )
    text = text.replace("threadIdx.t", "threadIdx.y")
    found = told("transpose", text, "02_shared_tile", M=64, N=64)
    assert "so that a warp still loads down a column in line 13. Let a thread read from row" in found
    assert "stores down" not in found


@pytest.mark.parametrize(
    ("text", "rung", "said"),
    [
        (NARROW, "03_padded_tile", "takes 2 rows at a time, and some of their elements are in the same bank: with `T "
         "= 32`, as wide as a warp, there are no bank conflicts."),
        (NARROW.replace("T + 1", "T"), "03_padded_tile", ""),  # nor are there none then
        (NARROW.replace("T + 1", "T"), "02_shared_tile", ""),  # which asks for something else
    ],
)  # fmt: skip
def test_a_block_that_is_narrower_than_a_warp_is_told_so_where_banks_conflict(
    text: str, rung: str, said: str
) -> None:
    found = told("transpose", text, rung, M=64, N=64)
    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.parametrize(("calls", "told"), [(4096, True), (1, False)])
def test_a_printf_is_told_that_is_counted_with_the_rest(calls: int, told: bool) -> None:
    text = FOURS.replace("    for", '    printf("%d\\n", int(i));\n    for')
    current = KernelSubmission(
        name="mine.cu", file=parse_source(text, topics.load("vector_add").signature, Path("mine.cu"))
    )
    current.counted = ((record(grid=(16, 1, 1), host_calls={"printf": calls}),),)
    assert right_tries.printing(current).startswith("Line 10 prints: ") == told


@pytest.mark.parametrize(
    ("second", "told"), [("extern __shared__ float right[]", True), ("float* right = left + 64", False)]
)
def test_two_arrays_at_one_address_are_told_though_they_come_out_right(second: str, told: bool) -> None:
    text = FOURS.replace("    for", f"    extern __shared__ float left[];\n    {second};\n    for", 1)
    file = parse_source(text, topics.load("vector_add").signature, Path("mine.cu"))
    said = right_tries.by_luck(KernelSubmission(name="mine.cu", file=file))
    assert said.startswith("Line 11: `left` and `right` begin at the same address") == bool(said) == told


BIAS_FIRST = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    const float b = bias[column];
    if (row < M && column < N)
        out[(size_t)row * N + column] = in[(size_t)row * N + column] + b;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "Line 11 reads `bias[column]` before line 12 asks whether `column < N`, and so also behind the end of "
         "`bias`. It comes out right as long as the compiler puts that off until then"),
        ("bias[column]", "in[column]", "Line 11 reads `in[column]` before"),
        ('cdiv(N, 32)"', 'N // 32"', ""),  # there are as many elements as threads, or more
    ],
)  # fmt: skip
def test_elements_that_are_read_before_it_is_asked_whether_they_are_there(
    old: str, new: str, said: str
) -> None:
    topic, text = topics.load("add_bias"), BIAS_FIRST.replace(old, new, 1)
    current = KernelSubmission(name="mine.cu", file=parse_source(text, topic.signature, Path("mine.cu")))
    submission.compile_it(current, DEFAULT_ARCH)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        told = right_tries.read_first(CaseRunner(topic, CaseStore(topic), child), current)
    assert told.startswith(said)
    assert bool(told) == bool(said)


@pytest.mark.parametrize(("threads", "few"), [(1, True), (16, True), (32, False)])
def test_blocks_of_less_than_a_warp_are_told(threads: int, few: bool) -> None:
    topic = topics.load("vector_add")
    current = KernelSubmission(name="mine.cu", file=parse_source(FOURS, topic.signature, Path("mine.cu")))
    current.counted = ((record(block=(threads, 1, 1)),),)
    assert right_tries.few_threads(topic, current).startswith(f"Each block has {threads} thread") == few


def test_a_sum_that_is_kept_in_global_memory_is_not_taken_for_work_that_is_done_again() -> None:
    added = FOURS.replace("c[i + k] = a[i + k] + b[i + k]", "c[i] = k ? c[i] + 0 * a[i + k] : a[i] + b[i]")
    assert not told("vector_add", added, "00_naive", N=1 << 16)
