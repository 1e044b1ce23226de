"""What elements have in common that nobody has written, in terms of the launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from marking import Marking

from grader.judge.child.protocol import Launch
from grader.judge.correctness.explaining import NOTHING
from grader.judge.kernels.explained import STORED_0, STORED_OR_CLEARED
from grader.judge.kernels.missing import LEFT, told
from grader.workbook import topics

Shape = tuple[int, int, int]
AT = np.arange(1023)
ROW, COLUMN = np.indices((131, 129))


def launch(grid: Shape, block: Shape) -> Launch:
    return Launch("kernel", grid, block, 0, ())


NO_REST = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = ["64"]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (N - i < 4) return;
    for (int j = i; j < i + 4; j++) c[j] = a[j] + b[j];
}
"""

FLOAT4 = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32 * 4)", "cdiv(M, 8)"]
// block = ["32", "8"]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    int column = (blockIdx.x * 32 + threadIdx.x) * 4;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column + 3 < N) {
        float4 x = *(const float4*)&in[(size_t)row * N + column];
        const float4 b = *(const float4*)&bias[column];
        x.x += b.x, x.y += b.y, x.z += b.z, x.w += b.w;
        *(float4*)&out[(size_t)row * N + column] = x;
    }
}
"""

LINE = launch((4, 1, 1), (256, 1, 1))
PLANE = launch((5, 17, 1), (32, 8, 1))


@pytest.mark.parametrize(
    ("missing", "launched", "said"),
    [
        (AT >= 512, launch((2, 1, 1), (256, 1, 1)), "all elements from 512 on, and the grid has 512 threads (2 blocks"),
        (AT >= 600, LINE, "from 600 on: which thread writes them? The grid has one for each: look at its index"),
        (AT >= 600, launch((1, 1, 1), (256, 1, 1)), "which thread writes them, and does the grid have it?"),
        (AT >= 256, LINE, "4 blocks along x, which have 256 elements each, all write the first"),
        (AT >= 259, LINE, "begin 1 element apart. Multiply blockIdx.x by 256."),
        (AT >= 268, LINE, "begin 4 elements apart. Multiply blockIdx.x by 256, and not by gridDim.x."),
        (AT >= 1020, LINE, "all elements from 1020 on, the last 3 of 1023: too few where a thread takes several"),
        (ROW >= 128, launch((20, 1, 1), (32, 32, 1)), "is a number of tiles rounded down? If not: too few"),
        (AT >= 700, LINE, "all elements from 700 on: which thread writes them"),
        (AT % 272 >= 256, launch((4, 1, 1), (256, 1, 1)), "one block for 256 elements, and blocks begin 272"),
        (AT % 256 >= 240, launch((5, 1, 1), (256, 1, 1)), "one block for 240 elements, and blocks begin 256"),
        (AT[:255] >= 240, launch((2, 1, 1), (256, 1, 1)), "begin 256 apart. Multiply blockIdx.x by 240."),
        (AT % 4 == 3, LINE, "i % 4 == 3: is component w of a vector never set?"),
        ((AT % 4 == 0) & (AT < 1020), LINE, "i % 4 == 0: is component x"),
        (AT == 7, LINE, "It is element 7: which thread writes it?"),
        ((AT % 4 == 3) & (AT != 7), LINE, ""),
        (ROW % 32 >= 8, PLANE, "apart. Is blockIdx.y to be multiplied by 8? If not: does a loop over the 32 rows of a"),
        (ROW % 32 >= 16, PLANE, "rows i with i % 32 >= 16: does a loop over the 32 rows of a tile end after the f"),
        (AT >= 256, launch((64, 1, 1), (256, 1, 1)), "or begin behind the blocks before its own, at blockIdx.x"),
        (ROW >= 8, launch((64, 1, 1), (32, 8, 1)), "(1 block of 8). Make the grid larger"),
        ((AT < 8) | (AT >= 1015), LINE, "They are the first 8 and the last 8: does a condition leave out those"),
        ((AT < 8) | (AT == 500) | (AT >= 1015), LINE, ""),
        (ROW % 64 >= 15, launch((5, 3, 1), (32, 8, 1)), "i % 64 >= 15: the 8 threads of a block along y take 8"),
        ((ROW % 64 >= 15)[:65], launch((5, 2, 1), (32, 8, 1)), "They are rows 15 to 63: the 8 threads of a block"),
        ((ROW >= 15)[:33], launch((5, 1, 1), (32, 8, 1)), "rows from 15 on: the 8 threads of a block along y take 8"),
        (ROW % 64 >= 8, launch((5, 3, 1), (32, 8, 1)), "for 64 rows, of which its 8 threads along y write t"),
        ((ROW % 64 >= 16)[:65], launch((5, 2, 1), (32, 8, 1)), "all 64 are done: its loop takes 2 of 8 steps."),
        (AT % 256 >= 64, launch((4, 1, 1), (64, 1, 1)), "all 256 are done: its loop takes 1 of 4 steps."),
        ((AT >= 128) & (AT < 512), launch((3, 1, 1), (128, 1, 1)), "They are elements 128 to 511: which thread"),
        (AT % 256 >= 65, launch((4, 1, 1), (64, 1, 1)), "i % 256 >= 65: which thread writes them?"),
        (AT % 256 >= 67, launch((4, 1, 1), (64, 1, 1)), "and go on by 1, to those that others take. Let them go on by"),
        (ROW >= 64, launch((5, 2, 1), (32, 32, 1)), "do blockIdx.x and blockIdx.y change places in the index of what"),
        (ROW >= 64, launch((4, 2, 1), (32, 32, 1)), "(2 blocks of 32). Make the grid larger"),
        (ROW >= 24, PLANE, "17 blocks along y, which have 8 rows each, begin 1 row apart. Multiply blockIdx.y by 8."),
        (ROW >= 80, launch((5, 3, 1), (32, 8, 1)), "64 rows each, begin 8 rows apart. Multiply blockIdx.y by 64, a"),
        (COLUMN >= 64, launch((2, 17, 1), (32, 8, 1)), "from 64 on, and the grid has 64 threads along x (2 blocks"),
        ((ROW >= 24) | (COLUMN >= 64), PLANE, ""),
    ],
)  # fmt: skip
def test_what_has_all_missing_elements_and_no_other_is_said(
    missing: np.ndarray, launched: Launch, said: str
) -> None:
    found = told(missing, launched)
    assert said in found
    assert bool(said) == bool(found)


def test_a_quotient_of_a_size_that_rounds_down_is_named() -> None:
    source = "__global__ void k(float* c, int N)\n{\n    int half = N / 2;\n    c[threadIdx.x] = 0;\n}"
    assert "`N / 2` in line 3 rounds down" in told(AT >= 1022, LINE, source=source)
    assert "rounds down" not in told(AT >= 1021, LINE, source=source)


def test_no_more_threads_are_asked_for_along_an_axis_that_the_kernel_has_not() -> None:
    rows = "__global__ void k(float* c, int N)\n{\n    c[blockIdx.x * N + threadIdx.x] = 0;\n}"
    assert "gridDim.y" not in told(ROW >= 1, launch((131, 1, 1), (32, 1, 1)), source=rows)
    assert "gridDim.y" in told(
        ROW >= 1, launch((131, 1, 1), (32, 1, 1)), source=rows.replace("blockIdx.x", "blockIdx.y")
    )


def test_threads_without_a_loop_are_told_to_be_more_or_to_have_one() -> None:
    found = told(AT % 256 >= 64, launch((4, 1, 1), (64, 1, 1)), source="c[i] = a[i] + b[i];")
    assert found.endswith("until all 256 are done, in a loop, or give a block 256 along x.")


TILED = """extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[32][32];
    const int row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x;
    if (row < M && column < N) tile[threadIdx.y][threadIdx.x] = in[size_t(row) * N + column];
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (CONDITION) out[size_t(y) * M + x] = tile[threadIdx.x][threadIdx.y];
}
"""


@pytest.mark.parametrize("missing", [ROW >= 32, ROW % 32 >= 8, (ROW >= 32) & (ROW < 64)])
@pytest.mark.parametrize("condition", ["row < N && column < M", "y < N && x < M"])
def test_a_condition_about_another_element_is_told_and_no_guess(missing: np.ndarray, condition: str) -> None:
    found = told(missing, launch((5, 5, 1), (32, 32, 1)), source=TILED.replace("CONDITION", condition))
    elsewhere = ": the condition in line 8 is about `row`, and line 8 stores by row `y` and column `x`."
    assert (elsewhere in found) == condition.startswith("row")


@pytest.mark.parametrize(
    ("index", "lacks"), [("y * N + x", False), ("threadIdx.y * N + x", True), ("at", False)]
)
def test_blocks_are_said_to_write_the_first_where_the_index_lacks_their_number(
    index: str, lacks: bool
) -> None:
    source = (
        "__global__ void k(const float* in, float* out, int N)\n{\n    int x = blockIdx.x * 32 + threadIdx.x;\n"
        "    int y = blockIdx.y * 8 + threadIdx.y, at = y * N + x;\n"
        f"    if (y < N) out[{index}] = in[y];\n}}\n"
    )
    assert ("all write the first" in told(ROW >= 8, PLANE, source=source)) == lacks


@pytest.mark.parametrize("tile", [(8, 32), (8, 33), (32, 8)])
def test_a_tile_that_is_no_square_is_told(tile: tuple[int, int]) -> None:
    found = told(ROW % 32 >= 8, PLANE, tiles={(4,), tile})
    assert f"i % 32 >= 8: the tile, {tile[0]} × {tile[1]}, is no square, and with" in found
    assert found.endswith("of t = threadIdx.y * 32 + threadIdx.x: t / 8 and t % 8.")


@pytest.mark.parametrize(
    ("source", "tiles", "said"),
    [
        ("", {(32, 33)}, "for the 32 rows of a tile, and each takes one: let each thread take 4, threadIdx.y + j with "
         "`for (int j = 0; j < 32; j += 8)`, both where the tile is stored and where it is read."),
        ("for (;;) f();", {(32, 32)}, "a block has 8 threads along y for the 32 rows of a tile, and writes 8 of them: "
         "let each thread take 4"),
        ("f();", {(16, 17)}, "Is blockIdx.y to be multiplied by 8? If not: each thread has to go on by 8 until all 32"),
        ("__shared__ float t[9]; for (;;) f();", (), "by 8? If not: does a loop over the 32 rows of a tile end"),
        ("for (;;) f();", (), "Is blockIdx.y to be multiplied by 8? If not: does a loop over the 32 rows of a block"),
    ],
)  # fmt: skip
def test_of_fewer_threads_than_a_tile_has_rows_each_is_to_take_several(
    source: str, tiles: set[tuple[int, ...]], said: str
) -> None:
    assert said in told(ROW % 32 >= 8, PLANE, tiles=tiles, source=source)


def test_of_a_kernel_that_has_no_tile_no_loop_over_one_is_asked_for() -> None:
    missing = AT % 66 >= 1
    assert told(missing, LINE, source="for (;;) f();").endswith("i % 66 >= 1: which thread writes them?")
    assert "of a tile end after the first 1?" in told(missing, LINE, source="__shared__ int t; for (;;) f();")


PLACES = """__global__ void k(const float* in, float* out, int M, int N) {
    int ONE = blockIdx.x * 16 + threadIdx.x;
    int OTHER = blockIdx.y * 16 + threadIdx.y;
    if (row < M && column < N) out[row * N + column] = in[FROM];
}
"""


@pytest.mark.parametrize(
    ("names", "read", "said"),
    [
        (("row", "column"), "row * N + column", "has 32 threads along x (2 blocks of 16). Along the other side it has e"
         "nough: are x and y exchanged, in `grid` or in the kernel?"),
        (("column", "row"), "row * N + column", "threads along y (3 blocks of 16). Make the grid larger, with cdiv(a, b"
         "), which rounds up, or let each thread go on by all threads at a time, in a loop with a size_t `i` and `i += "
         "gridDim.y * blockDim.y`."),
        (("row", "column"), "column * M + row", "has 32 threads along x (2 blocks of 16). Along the other side it has e"
         "nough: where rows become columns, do"),
    ],
)  # fmt: skip
def test_the_side_that_rows_are_counted_along_is_read_from_the_text(
    names: tuple[str, str], read: str, said: str
) -> None:
    source = PLACES.replace("FROM", read)
    for old, new in zip(("ONE", "OTHER"), names, strict=True):
        source = source.replace(old, new)
    along_x = names[0] == "row"
    of_grid = launch((2, 5, 1), (16, 16, 1)) if along_x else launch((2, 3, 1), (16, 16, 1))
    missing = ROW[:65, :65] >= (32 if along_x else 48)
    assert said in told(missing, of_grid, source=source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("row = blockIdx.x * gridDim.x + w;", "Multiply blockIdx.x by 3, and not by gridDim.x."),
        ("row = blockIdx.x * 4 + w;", "from 5 on: which thread writes them"),
        ("row = blockIdx.x * blockDim.x + w;", "blocks begin 128 apart"),
    ],
)
def test_how_far_apart_blocks_begin_is_not_guessed_against_the_source(source: str, said: str) -> None:
    assert said in told(np.arange(6) >= 5, launch((2, 1, 1), (128, 1, 1)), source=source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("if (i >= 8 && i + 8 < N) for (;;) sum += in[i + k];", "does a condition leave out those"),
        ("const int i = threadIdx.x + blockDim.x;\nif (i < N) c[i] = a[i] + b[i];", ""),
        ("const int i = blockDim.x + threadIdx.x;\ny[i] = x[i] + 10;", ""),
        ("y[i + 8] = x[i + 8];  // if", ""),
    ],
)
def test_ends_are_left_out_where_neighbours_are_loaded_on_a_condition(source: str, said: str) -> None:
    found = told((AT < 8) | (AT >= 1015), LINE, source=source)
    assert said in found
    assert bool(said) == bool(found)


def test_of_bins_that_each_block_adds_to_its_threads_go_on_and_not_the_grid() -> None:
    for blocks in (1, 2, 64):
        few = launch((blocks, 1, 1), (128, 1, 1))
        found = told(np.arange(256) >= 128, few, by_thread=True)
        assert "a block has 128 threads, each of which adds to the element of its own number" in found
        assert "`for (int i = threadIdx.x; i < 256; i += blockDim.x)`" in found
        assert "grid" not in found


def test_where_few_elements_tell_nothing_it_is_said_of_a_larger_case(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(NO_REST, "utf-8")
    reason = marked(topics.load("vector_add"), file).reason or ""
    assert "where N=1. At N=1023, they are all elements from 1020 on, the last 3 of 1023" in reason


def test_what_is_left_is_told_with_the_line_behind_which_it_is_taken(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    own = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < N / 4)\n        for (int j = 4 * i;"
    file.write_text(
        NO_REST[: NO_REST.index("int i")] + own + " j < 4 * i + 4; j++) c[j] = a[j] + b[j];\n}\n", "utf-8"
    )
    reason = marked(topics.load("vector_add"), file).reason or ""
    assert "`if (i < N / 4)` in line 10, let threads take these one each: with `if (i < N % 4)`" in reason


def test_where_nothing_is_written_the_fault_in_a_larger_case_is_told(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(FLOAT4, "utf-8")
    reason = marked(topics.load("add_bias"), file).reason or ""
    assert (
        "`out` was never written, where M=1, N=1. At M=65, N=63, line 12: misaligned: thread (0, 1, 0)"
        in reason
    )
    assert "take single floats where a row is not a multiple of 4 floats long" in reason
    assert "args" not in reason


def test_an_input_that_is_written_in_place_of_the_output_has_its_place(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(
        NO_REST.replace("const float* a", "float* a").replace("c[j] = a[j]", "a[j] = c[j]"), "utf-8"
    )
    reason = marked(topics.load("vector_add"), file).reason or ""
    assert "changed its input `a`, first at [0], and never wrote `c`: have the two changed places" in reason
    assert "It has to load from `a` and to store to `c`." in reason


STORES_ZEROS = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    if (threadIdx.x % 32 < 8)
        if (threadIdx.x / 32 < 4)
            if (i < N) sum = a[i] + b[i];
    if (i < N) c[i] = sum;
}
"""

ZEROS = """\
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 256)"]
// block = ["256"]
// zero = ["bins"]
// ///
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) atomicAdd(bins + in[i], N / 512);
}
"""


def test_zeros_that_were_stored_are_not_missing(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(STORES_ZEROS, "utf-8")
    reason = marked(topics.load("vector_add"), file, problem_overrides={"N": 1023}).reason or ""
    assert STORED_0 in reason
    assert "does a loop" not in reason


def test_zeros_of_what_was_cleared_may_be_stored_as_well(tmp_path: Path, marked: Marking) -> None:
    file = tmp_path / "mine.cu"
    stores = ZEROS.replace("atomicAdd(bins + in[i], N / 512);", "bins[in[i]] = N / 512;")
    for text, said in ((ZEROS, NOTHING), (stores, STORED_OR_CLEARED)):
        file.write_text(text, "utf-8")
        assert said in (marked(topics.load("histogram"), file, problem_overrides={"N": 255}).reason or "")


WHOLE_ALONE = """\
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 1024)"]
// block = ["256"]
// zero = ["out"]
// ///
extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    float4 v = make_float4(0, 0, 0, 0);
    if (i + 3 < N) v = *(const float4*)&in[i];
    if (i < N) atomicAdd(out, v.x + v.y + v.z + v.w);
}
"""


@pytest.mark.parametrize("n", [3, 5])
def test_the_rest_behind_whole_vectors_is_told_by_the_condition_that_leaves_it_out(
    tmp_path: Path, marked: Marking, n: int
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(WHOLE_ALONE, "utf-8")
    reason = marked(topics.load("block_sum"), file, problem_overrides={"N": n}).reason or ""
    assert "Line 12: `i + 3 < N` lets only 4 at a time pass, and nothing else loads `in`" in reason
    assert f"the last `N % 4` elements are {LEFT}" in reason
