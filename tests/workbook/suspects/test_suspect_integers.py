"""Indices in types that are too small, rounded quotients, and bytes with a sign."""

from __future__ import annotations

import pytest

from grader.workbook.edit import lines_of
from grader.workbook.slips import threads
from grader.workbook.suspects import said
from grader.workbook.suspects.integers import far_enough, rounded, too_small

ROWS = "__global__ void k(const float* in, int M, int N) {\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("void f(int word) {\n    atomicAdd(&bins[word >> 24], 1);",
         "Line 2: `word >> 24` keeps the sign, so that a byte from 128 on is below 0: `(word >> 24) & 0xff`, or "
         "unsigned in place of int."),
        ("const int4 p = in[i];\nint top = p.x >> 24;\nbins[top]++;",
         "Line 2: `p.x >> 24` keeps the sign, so that a byte from 128 on is below 0: `(p.x >> 24) & 0xff`, or unsigned "
         "in place of int."),
    ],
)  # fmt: skip
def test_a_byte_with_a_sign_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "void f(unsigned int word, int n) {\n    bins[word >> 24]++;",
        "uint4 p = in[i];\nbins[(p.x >> 24) & 0xff] += p.y >> 24;",
        "int word = in[i];\nint top = word >> 24;\nsum += top;",
    ],
)
def test_a_byte_that_may_be_right_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("const float at = blockIdx.x * 256;",
         "Line 1: `at` is a float, which holds all whole numbers up to 16,777,216 only: make it an int."),
        ("int a;\nshort i = blockIdx.x;",
         "Line 2: `i` is a short, which holds all whole numbers up to 32,767 only: make it an int."),
        ("unsigned short i = blockIdx.x;",
         "Line 1: `i` is an unsigned short, which holds all whole numbers up to 65,535 only: make it an int."),
        ("float at = float(blockIdx.x) * (B + 1) + threadIdx.x;",
         "Line 1: `at` is a float, which holds all whole numbers up to 16,777,216 only: make it an int."),
        ("float sum = in[blockIdx.x];\nfloat x = f(threadIdx.x), y = threadIdx.x * 0.5f;", ""),
        ("i = (size_t)(y * N + x);",
         "Line 1: the cast comes too late, `y * N + x` has been formed in int: `size_t(y) * N + x`."),
        ("i = static_cast<size_t>(y * N);",
         "Line 1: the cast comes too late, `y * N` has been formed in int: `size_t(y) * N`."),
        (f"{ROWS}int i = r * N + c;",
         "Line 2: `r * N + c` is formed in int. Write `size_t(r) * N + c`, and keep it in a size_t."),
        (f"{ROWS}if (i < M * N) c[i] = 0;",
         "Line 2: `M * N` is formed in int. Write `size_t(M) * N`, and keep it in a size_t."),
        (f"{ROWS}if (r * N + c < M * N && c < N) v = 0;",
         "Line 2: `M * N` is formed in int. Write `size_t(M) * N`, and keep it in a size_t. "
         "Line 2: `r * N + c` is formed in int. Write `size_t(r) * N + c`, and keep it in a size_t."),
        (f"{ROWS}v = in[c + r * M];",
         "Line 2: `c + r * M` is formed in int. Write `c + size_t(r) * M`, and keep it in a size_t."),
        (f"{ROWS}size_t i = r * N + size_t(c);",
         "Line 2: `r * N` is formed in int. Write `size_t(r) * N`."),
        (f"{ROWS}out[r * N + (size_t)c] = v;",
         "Line 2: `r * N` is formed in int. Write `size_t(r) * N`, and keep it in a size_t."),
        (f"{ROWS}const int i = size_t(r) * N + c;",
         "Line 2: `i` is an int, and is set to a size_t: make it a size_t as well."),
        (f"{ROWS}v = in[r * N + c];\nw = in[r * N + c] + in[c * M + r];",
         "Line 2: `r * N + c` is formed in int. Write `size_t(r) * N + c`, and keep it in a size_t. "
         "Line 3: `c * M + r` is formed in int. Write `size_t(c) * M + r`, and keep it in a size_t. "
         "Line 3: `r * N + c` is formed in int. Write `size_t(r) * N + c`, and keep it in a size_t."),
        (f"{ROWS}size_t k = c;\nsize_t i = k * r * N;", ""),
        ("int i = blockIdx.x * B;\nwhile (i < N) {\n    i += blockDim.x * gridDim.x;\n}",
         "Line 1: `i` is an int, and `i += blockDim.x * gridDim.x` goes beyond what an int counts: make it a size_t."),
        ("const int all = blockDim.x * gridDim.x;\nfor (int i = blockIdx.x * B + t; i < N; i += all)",
         "Line 2: `i` is an int, and `i += all` goes beyond what an int counts: make it a size_t."),
        ("for (int tile = blockIdx.x; tile < N; tile += gridDim.x)", ""),
        ("for (size_t i = blockIdx.x; i < N; i += B * gridDim.x)", ""),
        (f"{ROWS}size_t r = 0;\nv = in[r * N + c];", ""),
        (f"{ROWS}v = in[size_t(r) * N + c];", ""),
        ("float v = in[i];\nsize_t i = size_t(y) * N + x;", ""),
    ],
)  # fmt: skip
def test_an_index_in_too_small_a_type_is_told(text: str, sentence: str) -> None:
    assert too_small(text) == sentence


@pytest.mark.parametrize(
    ("text", "said_then", "becomes"),
    [
        ("for (int i = 0; i < N; i++)", "`size_t i = blockIdx.x * blockDim.x + threadIdx.x` and `i += gridDim",
         "for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)"),
        ("int i = blockIdx.x * B + threadIdx.x;\nfor (; i < N; i += B)", "and `size_t i` in place of `int i` in",
         "size_t i = blockIdx.x * B + threadIdx.x;\nfor (; i < N; i += gridDim.x * B)"),
        ("unsigned i = blockIdx.x * B + threadIdx.x;\nfor (; i < N; i += B)", "", None),
    ],
)  # fmt: skip
def test_a_counter_that_is_to_go_on_by_a_grid_is_to_count_far_enough(
    text: str, said_then: str, becomes: str | None
) -> None:
    wide = far_enough(text, next(threads.strides(list(lines_of(text)))), "size_t")
    assert (wide and wide.applied(text)) == becomes
    assert wide is None or said_then in wide.said


@pytest.mark.parametrize(
    "text",
    [
        "int down = int(blockIdx.x * (1.0f / across));",
        "const float by = 1.0f / N;\nunsigned row = (unsigned)(threadIdx.x * by);",
        "int i = blockIdx.x;\nfloat by = __frcp_rn(float(n)), c = 0;\nconst int row = (i + 0.5f) * by;",
        "int i = 0;\nint p = __fdividef(i + 0.5f, Q), q = i - p * Q;",
        "int i = 0;\nfloat by = 1.f / n;\nint p = __float2int_rd(by * i);",
    ],
)
def test_a_quotient_by_floats_is_told(text: str) -> None:
    line = text.count("\n") + 1
    assert rounded(text).startswith(f"Line {line}: a quotient of integers is made of floats, and rounded")
    assert "Divide integers" in rounded(text)


def test_a_quotient_by_a_magic_number_is_told() -> None:
    text = "int i = 0;\nunsigned row = __umulhi(i, magic);"
    assert rounded(text).startswith("Line 2: `__umulhi` divides by means of a reciprocal that is rounded")


@pytest.mark.parametrize(
    "text",
    [
        "float v = in[0], by = 1.0f / width;\nint bin = (v - low) * by;",
        "int n = 4;\nfloat scale = 1.0f / n;\nout[n] = sum * scale;",
        "int row = 0;\nstore(out + size_t(row) * N, 1.0f / sum);",
    ],
)
def test_what_is_no_quotient_of_integers_is_not_told(text: str) -> None:
    assert rounded(text) == ""
