"""Trees of sums, shuffles, and lanes by their numbers."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said

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
        ("for (int s = 1; s < B; s *= 2) {\n    if (t % s == 0 && t + s < B) {\n        v[t] += v[t + s];",
         "Line 2: with `t % s` a thread adds, and so does the one `s` further on, whose element it takes: "
         "`t % (2 * s)`."),
        ("for (int s = B / 2; s > 0; s /= 2) {\n    if (t + s < B)\n        v[t] += v[t + s];\n    __syncthreads();\n}",
         f"Line 3: {ADDS_ALL}"),
        ("int s = B / 2;\nwhile (s) {\n    v[t] = v[t] + v[t + s];\n    __syncthreads();\n    s >>= 1;\n}",
         f"Line 3: {ADDS_ALL}"),
        ("for (int s = B / 2; s > 0; s /= 2)\n    v[t] += v[t + s];\nif (t == 0)", f"Line 2: {ADDS_ALL}"),
        (f"{OF_N}    if (i > N - 1) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
         f"Line 3: threads without an element return before {SHUFFLE}"),
        (f"{SUM_OF_WARP}{OF_N}    if (i < N) {{\n        v = sum(in[i]);\n    }}\n}}",
         f"Line 7: threads without an element go round {SHUFFLE}"),
        ("if (lane == __ffs(same)) {", f"Line 1: {FROM_1} `__ffs(same) - 1`."),
        ("int l = threadIdx.x % 32;\nint first = __ffs(f(m));\nif (first == l) {}\nlane = first - 1;",
         f"Line 3: {FROM_1} `first - 1`."),
        ("v = __shfl_sync(m, v, __ffs(m));", f"Line 1: {FROM_1} `__ffs(m) - 1`."),
        ("int lane = threadIdx.x & 32;",
         "Line 1: `& 32` keeps one bit alone, so `lane` is 0 or 32: `& 31`, or `% 32`."),
        ("const int WARP = 32;\nint t = threadIdx.x;\nint l = t & WARP;\nx[l] = 0;",
         "Line 3: `& WARP` keeps one bit alone, so `l` is 0 or 32: `& (WARP - 1)`, or `% WARP`."),
        ("int mine = in[i];\nunsigned same = __ballot_sync(~0u, in[i] == mine);",
         "Line 2: in `__ballot_sync` each lane compares `in[i]` with `mine` of its own, which is always true: "
         "`__match_any_sync(~0u, mine)` gives the lanes that have the same."),
    ],
)  # fmt: skip
def test_threads_that_go_without_each_other_are_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "for (int s = 1; s < B; s *= 2)\n    if (t % (2 * s) == 0) v[t] += v[t + s];",
        "for (int s = 1; s < B; s *= 2) {\n    v[t] += v[t + s];\n    __syncthreads();\n}",
        "for (int s = B / 2; s; s /= 2) {\n    if (t < s) v[t] += v[t + s];\n    __syncthreads();\n}",
        "for (int s = B / 2; s; s /= 2)\n    if (t < s) {\n        v[t] += v[t + s];\n        __syncthreads();\n    }",
        "for (int s = B / 2; s > t; s /= 2) {\n    v[t] += v[t + s];\n    __syncthreads();\n}",
        f"{OF_N}    int w = threadIdx.x / 32;\n    if (w >= N) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
        f"{OF_N}    if (i >= 32) return;\n    v += __shfl_down_sync(ALL, v, 1);\n}}",
        "if (lane == __ffs(same) - 1 && __ffs(same) == 0) {}",
        "int first = __ffs(same);\nv = __shfl_sync(m, v, first - 1);",
        "int lane = threadIdx.x & 31;\nint upper = threadIdx.x & 32;\nif (upper == 0) {}",
        "int mine = in[i];\nint first = __shfl_sync(m, mine, 0);\nunsigned same = __ballot_sync(m, first == mine);",
    ],
)
def test_threads_that_may_be_right_are_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""
