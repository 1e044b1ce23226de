"""What is wrong in a kernel's text whatever it is run on."""

from __future__ import annotations

import pytest

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.suspects import kept, rounded, running, said, too_small

UNSET = 'variable "v" is used before its value is set'
EQUAL = 'use of "=" where "==" may have been intended'
BELOW = "pointless comparison of unsigned integer with zero"
COPY = 'parameter "z" was set but never used'
NOTHING = "expression has no effect"


def warned(text: str, line: int = 0, message: str = "", file: str = "k.cu") -> str:
    return said(text, [Diagnostic(file, line, "warning", message, "")] if line else [], "k.cu")


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
        ("for (int i = t; i < N; i += f(2)) {\n    mine = in[i];\n}", 0, "",
         "Line 2: each step of the loop sets `mine` anew, and the last one stays: `mine += …`."),
        ("for (int s = 1; s < B; s *= 2) {\n    if (t % s == 0 && t + s < B) {\n        v[t] += v[t + s];", 0, "",
         "Line 2: with `t % s` a thread adds, and so does the one `s` further on, whose element it takes: "
         "`t % (2 * s)`."),
        ("i == 3;", 1, NOTHING, "Line 1: `i == 3;` compares and sets nothing: `=`."),
        ("for (int i = 0; i < N, j < M; ++i)", 1, NOTHING,
         "Line 1: of conditions with a comma in between only the last counts: write `&&`."),
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


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = t; i < N; i += 10) {}",
        "for (int i = t; i < N;) {\n    i += stride;\n}",
        "for (int half = 4; half >= 0; half /= 2) {\n    if (half == 0) break;\n}",
        "for (int half = 4; half > 0; half /= 2) {}",
        "for (int s = 1; s < 8; s <<= 1) {}",
    ],
)
def test_a_loop_that_ends_is_not_told(text: str) -> None:
    assert warned(text) == ""


ADDS_ALL = (
    "thread `t` adds the element of thread `t + s`, which may add in the same step: only those add for which "
    "`t < s`."
)
FROM_1 = "__ffs counts bits from 1, and lanes are counted from 0:"
OF_N = "__global__ void k(const float* in, int N) {\n    int i = threadIdx.x + B * blockIdx.x;\n"
SUM_OF_WARP = "__device__ float sum(float v)\n{\n    return v + __shfl_xor_sync(ALL, v, 1);\n}\n"
SHUFFLE = (
    "the shuffle, which reads from them: let all threads come to it, those with 0 for a sum, and put the condition on "
    "the load alone."
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("double sum; // sum = 0\nfor (;;)\n  sum += x;",
         "Line 1: `sum` has no value before it is added to in line 3: `double sum = 0.0;`."),
        ("float a, acc[4][4];\nacc[i][j] += x;",
         "Line 1: `acc` has no value before it is added to in line 2: `float acc[4][4] = {};`."),
        ("float most;\nmost = fmaxf(most, x);",
         "Line 1: `most` has no value before it is read in line 2: set it first."),
        ("int step = 8;\nfor (int i = 0; i < N; i = step) {}",
         "Line 2: the step `i = step` sets `i` to the same each time: `i += step`."),
        ("\nfor (int i = t; i < N; i += gridDim.x * 0) {\n    sum += x[i];\n}",
         "Line 2: the step `i += gridDim.x * 0` adds 0, so `i` stays where it is, and the loop never ends."),
        ("for (int i = f(t); i < N;) {\n    sum += x[i];\n}",
         "Line 1: the loop has no step, so `i < N` stays true: `i += …`."),
        ("for (int half = 4; half >= 0; half /= 2) {\n    __syncthreads();\n}",
         "Line 1: `half /= 2` ends at 0 and stays there, where `half >= 0` is still true: `half > 0`."),
        ("for (int s = 0; s < 8; s <<= 1) {\n    __syncthreads();\n}",
         "Line 1: `s` begins with 0, which `s <<= 1` leaves 0, so the loop never ends: begin with 1."),
        ("for (int i = index; i < N; i += stride) {\n    c[index] = a[index];\n}",
         "Line 1: the loop goes on by `i`, and its body does the same each time: `i` in place of `index` in line 2."),
        ("\nwhile (f(i) < N);\n{",
         "Line 2: the `;` behind `while (…)` ends the loop in front of its body: delete it."),
        ("    if (i < N)\n        x = a[i];\n        y = b[i];  // both\n        c[i] = x + y;\n}",
         "Line 1: without braces the `if` is for line 2 alone: put { } around lines 2 to 4."),
        ("#define GID b * B + t\nint i = GID * 4;",
         "Line 1: a macro is put in as text, and the `*` beside `GID` in line 2 takes a part of it alone: "
         "`#define GID (b * B + t)`."),
        ("#define AT(r) r * N\nint c = i % AT(2);",
         "Line 1: a macro is put in as text, and the `%` beside `AT` in line 2 takes a part of it alone: "
         "`#define AT(r) (r * N)`."),
        ("template <typename T>\n__device__ void add_to(T value, T more)\n{\n    value += more;\n}",
         "Line 2: `value` is a copy, and what is stored to it is lost when the function ends: return it, or take a "
         "reference, `T& value`."),
        ("for (int s = B / 2; s > 0; s /= 2) {\n    if (t + s < B)\n        v[t] += v[t + s];\n    __syncthreads();\n}",
         f"Line 3: {ADDS_ALL}"),
        ("int s = B / 2;\nwhile (s) {\n    v[t] = v[t] + v[t + s];\n    __syncthreads();\n    s >>= 1;\n}",
         f"Line 3: {ADDS_ALL}"),
        ("int r = blockIdx.y * B + threadIdx.y;\nint c = blockIdx.x * B + threadIdx.x;\nif (c <= r) return;",
         "Line 3: `c <= r` compares a row with a column. Nothing is exchanged in place where `out` is an array of its "
         "own: every thread moves its element, and rows and columns may differ in number."),
        (f"{OF_N}    if (i > N - 1) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
         f"Line 3: threads without an element return before {SHUFFLE}"),
        (f"{SUM_OF_WARP}{OF_N}    if (i < N) {{\n        v = sum(in[i]);\n    }}\n}}",
         f"Line 7: threads without an element go round {SHUFFLE}"),
        ("for (;;) sum[0] += 1;\nfor (unsigned char b = 0; b < 2 * 128; b++) {}",
         "Line 2: `b`, of type unsigned char, holds no more than 255, so `b < 2 * 128` is always true: make it "
         "an int."),
        ("constexpr int B = 128;\nfor (char b = 0; b < B; ++b) {}",
         "Line 2: `b`, of type char, holds no more than 127, so `b < B` is always true: make it an int."),
        ("int n = N + TILE - 1 / TILE;",
         "Line 1: `/` is done before `+`, and `1 / TILE` is 0: `(N + TILE - 1) / TILE`."),
        ("int n = N + 31 / 32;", "Line 1: `/` is done before `+`, and `31 / 32` is 0: `(N + 31) / 32`."),
        ("if (lane == __ffs(same)) {", f"Line 1: {FROM_1} `__ffs(same) - 1`."),
        ("int l = threadIdx.x % 32;\nint first = __ffs(f(m));\nif (first == l) {}\nlane = first - 1;",
         f"Line 3: {FROM_1} `first - 1`."),
        ("v = __shfl_sync(m, v, __ffs(m));", f"Line 1: {FROM_1} `__ffs(m) - 1`."),
        ("void f(int word) {\n    atomicAdd(&bins[word >> 24], 1);",
         "Line 2: `word >> 24` keeps the sign, so that a byte from 128 on is below 0: `(word >> 24) & 0xff`, or "
         "unsigned in place of int."),
        ("const int4 p = in[i];\nint top = p.x >> 24;\nbins[top]++;",
         "Line 2: `p.x >> 24` keeps the sign, so that a byte from 128 on is below 0: `(p.x >> 24) & 0xff`, or unsigned "
         "in place of int."),
        ("__shared__ float tile[24][24];\ntile[y][x ^ y] = 1;",
         "Line 2: `x ^ y` goes up to 31 where the two go up to 23: give `tile` a side that is a power of two, 16 or "
         "32, or pad its rows in place of that."),
    ],
)  # fmt: skip
def test_what_the_compiler_lets_pass_is_told(text: str, sentence: str) -> None:
    assert warned(text) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "float sum;\nif (x) sum = 0;\nsum += x;",
        "float x;\ny.x += 1;",
        "while (atomicAdd(flag, 0) == 0);\n__syncthreads();",
        "for (int i = first; i < N; i += step) c[i] = a[first];",
        "for (int k = first; k < N; k += step) c[first++] = 0;",
        "for (int k = first; k < N; k += step) sum += 1;",
        "for (int i = 0; i < N; ++i) { most = a[most]; }",
        "for (int i = 0; i < N; ++i) {\n    x = a[i];\n    sum += x;\n}",
        "for (int s = 1; s < B; s *= 2)\n    if (t % (2 * s) == 0) v[t] += v[t + s];",
        "do {\n    i++;\n} while (i < N);\n{",
        "float v;\nv = first ? x : v + x;",
        "__shared__ float s[4];\ns[t] += 1;",
        'float c[4];\nasm("mma" : "+f"(c[0]));',
        "for (int i = 0; i < N; i = 2 * i + 1) {}",
        "for (p = head; p < N; p = next) { next = p + 1; next++; }",
        "#define GID (b * B + t)\nint i = GID * 4;",
        "#define GID b * B + t\nint i = GID + 4;",
        "#define SIDE 8 * 4\nint n = 2 * SIDE;",
        "__device__ void f(int n)\n{\n    n /= 2;\n    counts[n] = 1;\n}",
        "__device__ void f(int n)\n{\n    g(n);\n}",
        "for (int s = 1; s < B; s *= 2) {\n    v[t] += v[t + s];\n    __syncthreads();\n}",
        "for (int s = B / 2; s; s /= 2) {\n    if (t < s) v[t] += v[t + s];\n    __syncthreads();\n}",
        f"{OF_N}    int w = threadIdx.x / 32;\n    if (w >= N) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
        f"{OF_N}    if (i >= 32) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
        "for (unsigned char b = 0; b < 255; b++) {}",
        "for (char b = 0; b < N; b++) {}",
        "for (uint8_t b = 0; b < 256; b++) {\n    if (b == 255) break;\n}",
        "int n = (N + TILE - 1) / TILE + N + 30 / 32;",
        "if (lane == __ffs(same) - 1 && __ffs(same) == 0) {}",
        "int first = __ffs(same);\nv = __shfl_sync(m, v, first - 1);",
        "void f(unsigned int word, int n) {\n    bins[word >> 24]++;",
        "uint4 p = in[i];\nbins[(p.x >> 24) & 0xff] += p.y >> 24;",
        "int word = in[i];\nint top = word >> 24;\nsum += top;",
        "__shared__ float tile[32][32], t[24][24], p[32][33];\ntile[y][x ^ y] = t[y][x ^ 1] + p[y][x ^ y];",
    ],
)
def test_nothing_is_told_of_what_may_be_right(text: str) -> None:
    assert warned(text) == ""


def test_a_long_text_takes_no_time() -> None:
    assert warned("float " + "a, " * 20_000 + ";\n" + "if (" * 50_000, 1, EQUAL)


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
    assert warned(text) == ""


ROWS = "__global__ void k(const float* in, int M, int N) {\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("const float at = blockIdx.x * 256;",
         "Line 1: `at` is a float, which holds all whole numbers up to 16,777,216 only: make it an int."),
        ("int a;\nshort i = blockIdx.x;",
         "Line 2: `i` is a short, which holds all whole numbers up to 32,767 only: make it an int."),
        ("float at = float(blockIdx.x) * (B + 1) + threadIdx.x;",
         "Line 1: `at` is a float, which holds all whole numbers up to 16,777,216 only: make it an int."),
        ("float sum = in[blockIdx.x];\nfloat x = f(threadIdx.x), y = threadIdx.x * 0.5f;", ""),
        ("i = (size_t)(y * N + x);",
         "Line 1: the cast comes too late, `y * N + x` has been formed in int: `size_t(y) * N + x`."),
        ("i = static_cast<size_t>(y * N);",
         "Line 1: the cast comes too late, `y * N` has been formed in int: `size_t(y) * N`."),
        (f"{ROWS}int i = r * N + c;",
         "Line 2: `r * N + c` is formed in int: `size_t(r) * N + c`, and a size_t to keep it in."),
        (f"{ROWS}if (i < M * N) c[i] = 0;",
         "Line 2: `M * N` is formed in int: `size_t(M) * N`, and a size_t to keep it in."),
        (f"{ROWS}v = in[c + r * M];",
         "Line 2: `c + r * M` is formed in int: `c + size_t(r) * M`, and a size_t to keep it in."),
        ("int i = blockIdx.x * B;\nwhile (i < N) {\n    i += blockDim.x * gridDim.x;\n}",
         "Line 1: `i` is an int, and `i += blockDim.x * gridDim.x` goes beyond what an int counts: make it a size_t."),
        ("for (int tile = blockIdx.x; tile < N; tile += gridDim.x)", ""),
        ("for (size_t i = blockIdx.x; i < N; i += B * gridDim.x)", ""),
        (f"{ROWS}size_t r = 0;\nv = in[r * N + c];", ""),
        (f"{ROWS}v = in[size_t(r) * N + c];", ""),
        ("float v = in[i];\nsize_t i = size_t(y) * N + x;", ""),
    ],
)  # fmt: skip
def test_an_index_in_too_small_a_type_is_told(text: str, sentence: str) -> None:
    assert too_small(text) == sentence


TILE = "void f(const half* A, int K)\n{\n__shared__ half a[16][16], b[64];\nfor (int k = 0; k < K; k += 16) "


@pytest.mark.parametrize(
    "text",
    [
        "if (k + s < K) a[r][s] = A[k + s];",
        "if (k + s < K && f(r) < M) {\n a[r][s] = A[size_t(r) * K + k + s];\n}",
    ],
)
def test_what_a_store_leaves_in_a_tile_is_told(text: str) -> None:
    assert kept(TILE + text).startswith("Line ")
    assert "`a` keeps what an earlier step has stored there" in kept(TILE + text)


@pytest.mark.parametrize(
    "text",
    [
        "a[r][s] = k + s < K ? A[k + s] : zero;",
        "if (k + s < K) a[r][s] = A[k + s];\nelse a[r][s] = zero;",
        "if (k + s < K) {\n a[r][s] = A[k + s];\n} else {",
        "if (t < s) c[t] = A[t];",
        "if (t < s) b[t] = b[t] + b[t + s];",
    ],
)
def test_a_store_with_its_other_case_leaves_nothing(text: str) -> None:
    assert kept(TILE + text) == ""


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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sum += in[i];\nif (i > R) {\n    sum -= in[i - R];  // leaves\n}", 3),
        ("s = s + tile[i];\ns = s - tile[i - R];", 2),
        ("for (;;)\n    s += in[i + R] - in[i - R - 1];", 2),
        ("sum += in[i];\nsum -= mean;\nother -= in[i];", 0),
        ("sum += a[i] - b[i];", 0),
    ],
)
def test_a_sum_that_elements_leave_again_is_told(text: str, line: int) -> None:
    found = running(text)
    assert found.startswith(f"Line {line}: `") if line else not found
