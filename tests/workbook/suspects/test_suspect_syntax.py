"""What C++ reads otherwise than it looks."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said
from grader.workbook.suspects.syntax import all_return, ended_macro

OF_N = "__global__ void k(const float* in, int N) {\n"
READ = (
    "`in[k]` is read before it is multiplied, also where it is not there, and what is read then may be NaN, which "
    "times 0 is NaN:"
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("    if (i < N)\n        x = a[i];\n        y = b[i];  // both\n        c[i] = x + y;\n}",
         "Line 1: without braces the `if` is for line 2 alone: put { } around lines 2 to 4."),
        ("#define GID b * B + t\nint i = GID * 4;",
         "Line 1: a macro is put in as text, and the `*` beside `GID` in line 2 takes a part of it alone: "
         "`#define GID (b * B + t)`."),
        ("#define AT(r) r * N\nint c = i % AT(2);",
         "Line 1: a macro is put in as text, and the `%` beside `AT` in line 2 takes a part of it alone: "
         "`#define AT(r) (r * N)`."),
        ("#define MIN(a, b) a < b ? a : b\nint mine = MIN(N, f(x) + B) - base;",
         "Line 1: a macro is put in as text, and the `-` beside `MIN` in line 2 takes a part of it alone: "
         "`#define MIN(a, b) (a < b ? a : b)`."),
        ("template <typename T>\n__device__ void add_to(T value, T more)\n{\n    value += more;\n}",
         "Line 2: `value` is a copy, and what is stored to it is lost when the function ends: return it, or take a "
         "reference, `T& value`."),
        ("int n = N + TILE - 1 / TILE;",
         "Line 1: `/` is done before `+`, and `1 / TILE` is 0: `(N + TILE - 1) / TILE`."),
        ("int n = N + 31 / 32;", "Line 1: `/` is done before `+`, and `31 / 32` is 0: `(N + 31) / 32`."),
        ("sum = sum + (i < N) ? in[i] : 0.0f;",
         "Line 1: `?` is done last, so that all of `sum + (i < N)` is its condition: "
         "`sum + (i < N ? in[i] : 0.0f)`."),
        ("x = 1;\nreturn v.x * (f(i) == 0) ? a : b;",
         "Line 2: `?` is done last, so that all of `v.x * (f(i) == 0)` is its condition: `v.x * (f(i) == 0 ? a : b)`."),
        (f"{OF_N}    sum += in[k] * (k >= 0 && k < N);", f"Line 2: {READ} `(k >= 0 && k < N ? in[k] : 0)`."),
        (f"{OF_N}    sum += in[k] * float(k < N);", f"Line 2: {READ} `(k < N ? in[k] : 0)`."),
        (f"{OF_N}    bool inside = k >= 0 && k < N;\n    sum += in[k] * inside;",
         f"Line 3: {READ} `(k >= 0 && k < N ? in[k] : 0)`."),
        (f"{OF_N}    sum += in[i + k] * (i + k < N);",
         f"Line 2: {READ.replace('k', 'i + k')} `(i + k < N ? in[i + k] : 0)`."),
        ("\n#define R 8;\nint k = i + R + 1;",
         "Line 2: the `;` is put in wherever `R` stands: `#define R 8`."),
        (f"{OF_N}    sum += (k < N ? 1.0f : 0.0f) * in[k];", f"Line 2: {READ} `(k < N ? in[k] : 0)`."),
    ],
)  # fmt: skip
def test_what_is_read_otherwise_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "#define GID (b * B + t)\nint i = GID * 4;",
        "#define GID b * B + t\nint i = GID + 4;",
        "#define MIN(a, b) a < b ? a : b\nint mine = MIN(N, 4);",
        "#define SIDE 8 * 4\nint n = 2 * SIDE;",
        "__device__ void f(int n)\n{\n    n /= 2;\n    counts[n] = 1;\n}",
        "__device__ void f(int n)\n{\n    g(n);\n}",
        "int n = (N + TILE - 1) / TILE + N + 30 / 32;",
        "sum = sum + (i < N ? in[i] : 0);\nx = i >= 0 && (i < N) ? in[i] : 0;\ny = i < n + (r + 1) ? 1 : 0;",
        "#define R 8;\nint k = R;",
        f"{OF_N}    sum += in[k] * w;\n    bool w = j < N;",
        f"{OF_N}    sum += in[k] * (k < R) + in[j] * (k < N);",
    ],
)
def test_what_is_read_as_it_looks_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    "text",
    [
        "if (i < N)\n    c[i] = 0;\nd[i] = 1;",
        "if (i < N)\n    c[i] = a[i] +\n           b[i];\nd[i] = 1;",
        "if (i < N) {\n    c[i] = 0;\n    d[i] = 1;\n}",
        "    if (i < N)\n        c[i] = 0;\n    else\n        d[i] = 1;",
        "  if (a)\n    for (;;)\n      x = 1;\n  y = 1;",
    ],
)
def test_lines_that_a_condition_is_for_are_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n#define R 8;", "line 2: the `;` is put in wherever `R` stands: `#define R 8`"),
        ("#define R = (2 * 4)", "line 1: the `=` is put in wherever `R` stands: `#define R (2 * 4)`"),
        ("#define R 8", ""),
        ("#define S 8;", ""),
    ],
)
def test_a_macro_that_is_written_as_a_variable_is_told(text: str, sentence: str) -> None:
    assert ended_macro(text, "for (int k = i - R; k <= i + R; ++k) {") == sentence


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("int i = t;\nreturn;\nout[i] = 1;", 3),
        ("int i = t;\n{\n    return;\n}\nout[i] = 1;", 4),
        ("if (i < N)\n    out[i] = 1;\nreturn;", None),
        ("if (i >= N) return;\nout[i] = 1;", None),
        ("if (i >= N) {\n    return;\n}\nout[i] = 1;", None),
        ("for (;;) {\n    { return; }\n}\nout[i] = 1;", None),
    ],
)
def test_a_return_on_no_condition_is_told(body: str, line: int | None) -> None:
    told = list(all_return(f"__global__ void f(float* out) {{\n{body}\n}}\n"))
    assert [number for number, _ in told] == ([line] if line else [])
