"""What the blocks of a grid share."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said

BEFORE = "an atomic function returns what was there before: the last block gets"
LEFT_OVER = "rounds down, to 0 where `N` is smaller, and nobody takes what is left over:"
OF_N = "__global__ void k(const float* in, int N) {\n    int i = threadIdx.x + B * blockIdx.x;\n"

NONE = "of that number, as its threads go on by all of them: let thread 0 do it,"
ALL = "    for (int j = i; j < N; j += gridDim.x * B) {}\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("int r = blockIdx.y * B + threadIdx.y;\nint c = blockIdx.x * B + threadIdx.x;\nif (c <= r) return;",
         "Line 3: `c <= r` compares a row with a column. Nothing is exchanged in place where `out` is an array of its "
         "own: every thread moves its element, and rows and columns may differ in number."),
        ("last = atomicAdd(&done, 1) == gridDim.x;",
         f"Line 1: {BEFORE} `gridDim.x - 1`, and none `gridDim.x`. Compare with the first."),
        ("const unsigned all = gridDim.x * gridDim.y;\nt = atomicInc(&done, gridDim.x);\nlast = all == t;",
         f"Line 3: {BEFORE} `all - 1`, and none `all`. Compare with the first."),
        (f"{OF_N}    int most = N / gridDim.x;\n    int end = first + most;",
         f"Line 3: `N / gridDim.x` {LEFT_OVER} `(N + gridDim.x - 1) / gridDim.x`, and `end = min(first + most, N)`."),
        (f"{OF_N}    int most = N / (gridDim.x * B);\n    for (int j = i * most; j < i * most + most; ++j) {{}}",
         f"Line 3: `N / (gridDim.x * B)` {LEFT_OVER} `(N + (gridDim.x * B) - 1) / (gridDim.x * B)`, and an end at "
         "`N`."),
        (f"{OF_N}    int most = N / (B * gridDim.x);\n    for (int j = first; j < first + most; ++j) {{}}",
         f"Line 3: `N / (B * gridDim.x)` {LEFT_OVER} `(N + (B * gridDim.x) - 1) / (B * gridDim.x)`, and `j < min(first "
         "+ most, N)`."),
        (f"{OF_N}    int all = gridDim.x * gridDim.y;\n    int most = N / all;",
         f"Line 4: `N / all` {LEFT_OVER} `(N + all - 1) / all`, and an end at `N`."),
        (f"{OF_N}    int fours = N / 4;\n{ALL}    if (i == fours) {{",
         f"Line 5: where `fours` is large, the grid has no thread {NONE} `i == 0`."),
        (f"{OF_N}{ALL}    if (i == N - 1) {{",
         f"Line 4: where `N - 1` is large, the grid has no thread {NONE} `i == 0`."),
    ],
)  # fmt: skip
def test_what_blocks_do_not_share_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "t = atomicAdd(&done, 1);\nif (t == gridDim.x - 1 || t + 1 == gridDim.x) {}",
        "while (atomicAdd(&done, 0) != gridDim.x) {}\nn = atomicAdd(&done, 1) + 1;\nif (n == gridDim.x) {}",
        f"{OF_N}    int most = N / gridDim.x;\n    int end = last == gridDim.x - 1 ? N : first + most;",
        f"{OF_N}    int most = N / gridDim.x;\n    most += blockIdx.x < N % gridDim.x;",
        f"{OF_N}    int most = N / gridDim.x;\n    for (int i = most * gridDim.x; i < N; ++i) {{}}",
        f"{OF_N}    int first = blockIdx.x * N / gridDim.x;",
        f"{OF_N}    if (i == N / 4) {{",
        f"{OF_N}{ALL}    i += 1;\n    if (i == N / 4) {{",
    ],
)
def test_what_blocks_may_share_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""
