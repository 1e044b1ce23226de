"""Small exercises: what is right passes, and what beginners usually write instead does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.workbook import exercises

EXERCISES = exercises.discover()

# What of the solution is replaced by which mistake, and what the judge says.
MISTAKES = [
    ("thread_index", "threadIdx.x", "threadIdx.x + 1", "out of bounds"),
    ("block_index", "blockIdx.x * blockDim.x", "blockIdx.x", "never written"),
    ("guard", "i < N", "i <= N", "out of bounds"),
    ("rows_and_columns", "row * cols", "row * rows", "never written"),
    ("grid_stride", "gridDim.x * blockDim.x", "blockDim.x", "wrong"),
    ("halo", "i > 0", "threadIdx.x > 0", "wrong"),
    ("barrier", "    __syncthreads();\n", "", "race"),
    ("tree", "        }\n        __syncthreads();\n", "        }\n", "race"),
    ("shared_halo", "i > 0 ? x[i - 1] : 0", "0", "wrong"),
    ("atomic", "&counts[x[i]], 1", "&counts[i % 4], 1", "wrong"),
    ("rows_become_columns", "column * H + row", "column * W + row", "out of bounds"),
    ("tile", "y[row * N + column]", "y[column * N + row]", "wrong"),
    ("shuffle", "sum, distance)", "sum, 1)", "expected"),
    ("wide_loads", "four.x + four.y + four.z + four.w", "4 * four.x", "wrong"),
    ("butterfly", "__shfl_xor_sync", "__shfl_down_sync", "wrong"),
    ("tile_product", "b[k][threadIdx.x]", "b[threadIdx.x][k]", "wrong"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), MISTAKES, ids=lambda value: str(value)[:30])
def test_a_beginners_mistake_is_refused(
    name: str, old: str, new: str, said: str, tmp_path: Path, marked: Marking
) -> None:
    exercise = EXERCISES[name]
    assert exercise.solution_text.count(old) == 1
    file = tmp_path / "mine.cu"
    file.write_text(exercise.solution_text.replace(old, new))
    result = marked(exercise, file)
    assert (result.verdict, result.points) == ("fail", 0)
    assert said in (result.reason or "")


def test_what_is_right_is_neither_counted_nor_timed(tmp_path: Path, marked: Marking) -> None:
    exercise = EXERCISES["thread_index"]
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
