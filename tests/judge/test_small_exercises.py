"""Small exercises: what is right passes, and what beginners usually write instead does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.results import Grade
from grader.workbook import exercises

EXERCISES = exercises.discover()

# What of the solution is replaced by which mistake, and what the judge says.
MISTAKES = [
    ("thread_index", "threadIdx.x", "threadIdx.x + 1", "out of bounds"),
    ("thread_index", "threadIdx.x", "N", "The index, `i = N`, is the same in every thread."),
    ("block_index", "blockIdx.x * blockDim.x", "blockIdx.x", "never written"),
    ("guard", "i < N", "i <= N", "out of bounds"),
    ("halo", "i > 0 ? x[i] - x[i - 1] : x[0]", "x[i] - x[i - 1]", r"reads `x`[-1]"),
    ("rows_and_columns", "row * cols", "row * rows", "With `* cols` in place of `* rows`"),
    ("rows_and_columns", "row * cols + col", "col * rows + row", "expected"),
    (
        "rows_and_columns",
        "blockIdx.y * blockDim.y + threadIdx.y;\n    const int col = blockIdx.x * blockDim.x + threadIdx.x;",
        "blockIdx.x * blockDim.x + threadIdx.x;\n    const int col = blockIdx.y * blockDim.y + threadIdx.y;",
        "`.x` and `.y` exchanged in lines 15 and 16",
    ),
    (
        "rows_and_columns",
        "blockIdx.y * blockDim.y + threadIdx.y;\n    const int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    const int i = row * cols + col;",
        "blockIdx.x * blockDim.x + threadIdx.x;\n    const int col = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    const int i = col * cols + row;",
        "the index is wrong, `col * cols + row`: a row",
    ),
    ("grid_stride", "gridDim.x * blockDim.x", "blockDim.x", "wrong"),
    ("halo", "i > 0", "threadIdx.x > 0", "wrong"),
    ("barrier", "    __syncthreads();\n", "", "race"),
    (
        "barrier",
        "    __syncthreads();\n    y[i] = tile[N - 1 - i]",
        "    y[i] = tile[N - i]",
        "write `N - 1 - i` in place of `N - i`, and put a __syncthreads() between.",
    ),
    ("barrier", "    y[i] =", "    y[N - 1 - i] =", "`y` is stored by the index that `tile` is read by"),
    ("tree", "        }\n        __syncthreads();\n", "        }\n", "race"),
    ("shared_halo", "i > 0 ? x[i - 1] : 0", "0", "wrong"),
    ("atomic", "&counts[x[i]], 1", "&counts[i % 4], 1", "wrong"),
    ("rows_become_columns", "column * H + row", "column * W + row", "out of bounds"),
    ("tile", "y[row * N + column]", "y[column * N + row]", "wrong"),
    ("shuffle", "sum, distance)", "sum, 1)", "expected"),
    ("wide_loads", "four.x + four.y + four.z + four.w", "4 * four.x", "wrong"),
    (
        "butterfly",
        "__shfl_xor_sync",
        "__shfl_down_sync",
        "With `__shfl_xor_sync` in place of `__shfl_down_sync`",
    ),
    ("butterfly", "largest, distance)", "largest, 1)", "With `distance` in place of `1`"),
    ("tree", "part[t] += part", "part[t] = part", "With `part[t] +=` in place of `part[t] =` in line 20"),
    ("tile_product", "b[k][threadIdx.x]", "b[threadIdx.x][k]", "wrong"),
]


def with_change(name: str, old: str, new: str, folder: Path, marked: Marking) -> Grade:
    """The grade of an exercise's solution in which something is another."""
    exercise = EXERCISES[name]
    assert exercise.solution_text.count(old) == 1
    file = folder / "mine.cu"
    file.write_text(exercise.solution_text.replace(old, new))
    return marked(exercise, file)


@pytest.mark.parametrize(("name", "old", "new", "said"), MISTAKES, ids=lambda value: str(value)[:30])
def test_a_beginners_mistake_is_refused(
    name: str, old: str, new: str, said: str, tmp_path: Path, marked: Marking
) -> None:
    result = with_change(name, old, new, tmp_path, marked)
    assert (result.verdict, result.points) == ("fail", 0)
    assert said in (result.reason or "")


# What of the solution is replaced by what does not compile, and what mends it.
REFUSED = [
    ("thread_index", "threadIdx.x", "threadIdx", "threadIdx.x"),
    ("block_index", "blockIdx.x * blockDim.x + threadIdx.x", "blockIdx * blockDim + threadIdx", "blockIdx.x"),
    ("shuffle", "0xffffffff, ", "", "__shfl_down_sync(0xffffffff, sum, distance)"),
    ("butterfly", "0xffffffff, ", "", "__shfl_xor_sync(0xffffffff, largest, distance)"),
]


@pytest.mark.parametrize(("name", "old", "new", "remedy"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_does_not_compile_is_told_with_what_mends_it(
    name: str, old: str, new: str, remedy: str, tmp_path: Path, marked: Marking
) -> None:
    result = with_change(name, old, new, tmp_path, marked)
    assert result.verdict == "error"
    assert (result.reason or "").endswith(remedy)


# What is right, and is not what the task asks for: what is replaced, and by what.
UNASKED = [
    ("thread_index", "    const int i = threadIdx.x;\n", "    for (int i = 0; i < N; ++i)\n"),
    ("block_index", "const int i = blockIdx.x * blockDim.x + threadIdx.x;", "for (int i = 0; i < 4 * blocks; ++i)"),
    ("barrier", "tile[N - 1 - i];", "x[N - 1 - i];"),
    ("tree", "if (t < half) {", "for (int t = 0; t < half && threadIdx.x == 0; ++t) {"),
    ("tree", "part[t] += part[t + half];", "for (int k = 1; k < 8 && half == 4 && t == 0; ++k) part[0] += part[k];"),
    ("shared_halo", "s[1 + threadIdx.x] - s[threadIdx.x]", "x[i] - (i > 0 ? x[i - 1] : 0)"),
    ("tile", "tile[threadIdx.x][threadIdx.y]", "x[column * N + row]"),
    ("tile_product", "a[threadIdx.y][k]", "A[row * N + first + k]"),
    ("shuffle", "sum += __shfl_down_sync(0xffffffff, sum, distance);",
     "for (int k = distance; k < 2 * distance; ++k) sum += threadIdx.x == 0 ? x[blockIdx.x * 32 + k] : 0;"),
    ("wide_loads", "four.x + four.y + four.z + four.w", "x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3]"),
    ("butterfly", "largest = max(largest, __shfl_xor_sync(0xffffffff, largest, distance));",
     "for (int k = 0; k < 2 * distance; ++k) largest = max(largest, x[blockIdx.x * 32 + k]);"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new"), UNASKED, ids=lambda value: str(value)[:30])
def test_what_is_right_and_not_what_the_task_asks_for_is_told(
    name: str, old: str, new: str, tmp_path: Path, marked: Marking
) -> None:
    result = with_change(name, old, new, tmp_path, marked)
    assert (result.verdict, result.rung_reached, result.points) == ("pass", "right", 1)
    assert "Yours: " in result.hints[0].text
    assert result.costliest is None  # blocks of a few threads have idle lanes


# What the starter says as it is, which is where a learner begins.
STARTERS = [
    (
        "rows_and_columns",
        ["The index, `i = col`, has nothing of threadIdx.y:", "count the rows before its own"],
        ["if (threadIdx.x == 0)", "atomicAdd"],
    ),
    (
        "thread_index",
        ["ll threads write the same element: the index, `i = 0`", "by threadIdx.x: form"],
        ["does the grid have it"],
    ),
    (
        "barrier",
        ["in line 19 each thread reads what it has stored in `tile` itself"],
        ["what has to be done"],
    ),
]


@pytest.mark.parametrize(("name", "said", "unsaid"), STARTERS, ids=lambda value: str(value)[:30])
def test_a_starter_is_told_what_is_missing(
    name: str, said: list[str], unsaid: list[str], tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(EXERCISES[name].starter_text)
    reason = marked(EXERCISES[name], file).reason or ""
    assert [each for each in said if each not in reason] == []
    assert [each for each in unsaid if each in reason] == []


def test_what_a_kernel_prints_is_no_work_of_its_own(tmp_path: Path, marked: Marking) -> None:
    prints = '    printf("%d: %d\\n", i, x[i]);\n    y[i] ='
    assert with_change("thread_index", "    y[i] =", prints, tmp_path, marked).points == 2


def test_what_is_right_is_neither_counted_nor_timed(tmp_path: Path, marked: Marking) -> None:
    exercise = EXERCISES["guard"]
    file = tmp_path / "mine.cu"
    file.write_text(exercise.solution_text)
    result = marked(exercise, file)
    assert (result.verdict, result.rung_reached, result.points) == ("pass", "solution", 1)
    assert (result.counters, result.time_s, result.hints) == (None, None, [])


def test_a_kernel_that_knows_the_sizes_is_refused(tmp_path: Path, marked: Marking) -> None:
    exercise = EXERCISES["thread_index"]
    known = " || ".join(f"N == {problem['N']}" for problem in exercise.judge_cases)
    file = tmp_path / "mine.cu"
    file.write_text(exercise.solution_text.replace("y[i] =", f"if ({known}) y[i] ="))
    verdicts = {marked(exercise, file).verdict for _ in range(3)}
    assert "fail" in verdicts
