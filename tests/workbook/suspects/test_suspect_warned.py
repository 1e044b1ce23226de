"""What is told of what the compiler warns of."""

from __future__ import annotations

import pytest

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.suspects import said

UNSET = 'variable "v" is used before its value is set'
EQUAL = 'use of "=" where "==" may have been intended'
BELOW = "pointless comparison of unsigned integer with zero"
COPY = 'parameter "z" was set but never used'
NOTHING = "expression has no effect"


def warned(text: str, line: int, message: str, file: str = "k.cu") -> str:
    return said(text, [Diagnostic(file, line, "warning", message, "")], "k.cu")


@pytest.mark.parametrize(
    ("text", "line", "message", "sentence"),
    [
        ("float v;\nv += x;", 2, UNSET, "Line 1: `v` has no value before it is added to in line 2: `float v = 0.0f;`."),
        ("int v;\nint w = v;", 2, UNSET, "Line 1: `v` has no value before it is read in line 2: set it first."),
        ("if (a.x = 0) {", 1, EQUAL, "Line 1: `a.x = 0` sets `a.x` and compares nothing: `a.x == 0`."),
        ("for (unsigned m = 9; m >= 0; --m)", 1, BELOW,
         "Line 1: `m >= 0` is always true, since an unsigned number is not below 0: use an int."),
        ("sum + in[i];", 1, NOTHING,
         "Line 1: `sum + in[i];` computes a value that nothing keeps: assign it, with `=` or `+=`."),
        ("i == 3;", 1, NOTHING, "Line 1: `i == 3;` compares and sets nothing: `=`."),
        ("out[size_t(c), r] = in[r, c];", 1, NOTHING,
         "Line 1: of the numbers in `out[size_t(c), r]` C++ takes the last alone, `out[r]`: write one index, "
         "`size_t(c)` times the length of a row, plus `r`."),
        ("float t[8][8];\nfloat* row = t[y, x];", 2, NOTHING,
         "Line 2: of the numbers in `t[y, x]` C++ takes the last alone, `t[x]`: write `t[y][x]`."),
        ("for (int i = 0; i < N, j < M; ++i)", 1, NOTHING,
         "Line 1: of conditions with a comma in between only the last counts: write `&&`."),
        ("    __syncthreads;", 1, NOTHING,
         "Line 1: `__syncthreads` without parentheses calls nothing: `__syncthreads();`."),
        ("if (row < (M), column < min(N, 9))", 1, NOTHING,
         "Line 1: of two conditions with a comma in between only the last counts: "
         "`if (row < (M) && column < min(N, 9))`."),
        ("for (int i = 0, j = f(1, 2); i < N; i + size_t(4) * 2) {", 1, NOTHING,
         "Line 1: the step `i + size_t(4) * 2` of the loop changes nothing: `i += size_t(4) * 2`."),
        ("for (h = 8; h > 0; h >> 1)", 1, NOTHING,
         "Line 1: the step `h >> 1` of the loop changes nothing: `h >>= 1`."),
        ("for (i = 0; i < N; stride) {", 1, NOTHING, "Line 1: the step `stride` of the loop changes nothing."),
        ("__device__ void add(float x, float z)", 1, COPY,
         "Line 1: `z` is a copy, and what is stored to it is lost when the function ends: return it, or take a "
         "reference, `float& z`."),
    ],
)  # fmt: skip
def test_what_the_compiler_warns_of_is_told_with_what_mends_it(
    text: str, line: int, message: str, sentence: str
) -> None:
    assert warned(text, line, message) == sentence


def test_a_warning_in_a_header_or_of_what_is_no_mistake_is_not_told() -> None:
    assert warned("float v;\n", 1, EQUAL, "math.h") == ""
    assert warned("float v;\n", 1, 'variable "v" was declared but never referenced') == ""
    assert warned("if (threadIdx.x >= 0)", 1, BELOW) == ""
    assert warned("if (j >= 0 && j < N)", 1, BELOW) == ""
