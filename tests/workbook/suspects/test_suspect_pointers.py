"""Pointers that go on, and `sizeof` of one."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said

HEAD = "__global__ void k(const float* in, float* out, int M, int N) {\n"
PATCH = f"""{HEAD}    const float* b = in + c0;
    for (int r = r0; r < M; ++r) {{
        for (int c = c0; c < N; ++c) {{
            x[c] = *b++;
        }}
    }}
}}
"""
ROWS = f"""{HEAD}    float* to = out + size_t(r0) * N + c;
    for (int r = r0; r < M; r += B) {{
        *to = x;
        to += B;
    }}
}}
"""
TAKEN = "__device__ float total({})\n{{\n    {};\n}}\n"
OF_ITS_OWN = (
    "a row of `rows` is always 16 elements long, and one of `in` as long as the matrix has columns, so that element "
    "(r, blockIdx.x) lies at `r` times that, plus `blockIdx.x`: index the array itself so."
)
AS_ARRAY = "Line 3: `w` is a pointer, as each parameter is that is written as an array, so "


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PATCH,
         "Line 5: `b++` goes on with the loop in line 4, and nothing sets `b` back when that begins again: set it "
         "to `in + c0` inside the loop in line 3."),
        (PATCH.replace("*b++", "*b").replace("\n        }\n    }", "\n            b += 1;\n        }\n    }"),
         "Line 6: `b += 1` goes on with the loop in line 4, and nothing sets `b` back when that begins again: set it "
         "to `in + c0` inside the loop in line 3."),
        (ROWS, "Line 5: the loop goes on by `B` rows, and `to` by as many elements, where a row has `N`: "
         "`to += size_t(B) * N`."),
        (ROWS.replace("to += B", "to++").replace("r += B", "++r"),
         "Line 5: the loop goes on by 1 row, and `to` by as many elements, where a row has `N`: `to += N`."),
        ("const char* bytes = (const char*)&pack;\nfor (int k = 0; k < sizeof(bytes); ++k) n += bytes[k];",
         "Line 2: `bytes` is a pointer, so `sizeof(bytes)` is 8, the bytes of an address, whatever lies there: "
         "`sizeof(pack)`."),
        (f"{HEAD}    int n = sizeof out / 4;\n}}",
         "Line 2: `out` is a pointer, so `sizeof out` is 8, the bytes of an address, whatever lies there: give the "
         "number of elements."),
        (TAKEN.format("const float w[2 * R + 1], int n", "n = sizeof(w) / sizeof(w[0])"),
         f"{AS_ARRAY}`sizeof(w)` is 8, the bytes of an address, and `sizeof(w) / sizeof(w[0])` is 2, whatever lies "
         "there: write `2 * R + 1` in place of `sizeof(w) / sizeof(w[0])`."),
        (TAKEN.format("float w[4][17]", "n = sizeof(w) / sizeof(w[0])"),
         f"{AS_ARRAY}`sizeof(w)` is 8, the bytes of an address, whatever lies there: write `4` in place of "
         "`sizeof(w) / sizeof(w[0])`."),
        (TAKEN.format("double w[]", "n = sizeof w / sizeof(double)"),
         f"{AS_ARRAY}`sizeof w` is 8, the bytes of an address, and `sizeof w / sizeof(double)` is 1, whatever lies "
         "there: give the number of elements."),
        (TAKEN.format("float w[W]", "memset(w, 0, sizeof(w))"),
         f"{AS_ARRAY}`sizeof(w)` is 8, the bytes of an address, whatever lies there: the elements are `W`, and their "
         "bytes `W * sizeof(float)`."),
        (TAKEN.format("const int* __restrict__ w", "n = sizeof w / sizeof *w"),
         "Line 3: `w` is a pointer, so `sizeof w` is 8, the bytes of an address, and `sizeof w / sizeof *w` is 2, "
         "whatever lies there: give the number of elements."),
        (TAKEN.format("float* w", "memset(w, 0, sizeof(w))"),
         "Line 3: `w` is a pointer, so `sizeof(w)` is 8, the bytes of an address, whatever lies there: give the "
         "number of elements, or for their bytes that times `sizeof(float)`."),
        (TAKEN.format("const uint4* w, int n", "n = n / sizeof(w)"),
         "Line 3: `w` is a pointer, so `sizeof(w)` is 8, the bytes of an address, whatever lies there: "
         "`sizeof(uint4)`."),
        (TAKEN.format("int n", "float part[8];\n    float* w = part;\n    n = sizeof(w)"),
         "Line 5: `w` is a pointer, so `sizeof(w)` is 8, the bytes of an address, whatever lies there: "
         "`sizeof(part)`."),
        (f"typedef float Row[16];\n{HEAD}    Row* rows = (Row*)in;\n    out[0] = rows[r][blockIdx.x];\n}}",
         f"Line 3: {OF_ITS_OWN}"),
        (f"{HEAD}    const float (*rows)[16] = (const float (*)[16])in;\n    x = rows[r][blockIdx.x];\n}}",
         f"Line 2: {OF_ITS_OWN}"),
    ],
)  # fmt: skip
def test_a_pointer_is_told_with_what_mends_it(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        PATCH.replace("        }\n    }", "        }\n        b = in + c0;\n    }"),
        PATCH.replace("        }\n    }", "        }\n        b += N;\n    }"),
        PATCH.replace("c = c0", "c = 0"),  # all of a filter, one row behind the other
        ROWS.replace("to += B", "to += static_cast<size_t>(B) * N"),
        ROWS.replace("size_t(r0) * N + c", "r * N + r0"),  # along a row
        f"{HEAD}    const float4* rows = (const float4*)in;\n    x = rows[r].x + blockIdx.x;\n}}",
        f"{HEAD}    float tile[4];\n    int n = sizeof(tile) + sizeof(float) + sizeof(*out);\n}}",
        TAKEN.format("float* w", "{ float w[4]; n = sizeof(w); }"),
        TAKEN.format("float* w", "n = 0")
        + TAKEN.format("float w, const float v[4]", "n = sizeof(w) + sizeof(v[0])"),
        TAKEN.format("int n", "float w = 2;\n    n = f(n * w, n * w) * w;\n    n = sizeof(w)"),
    ],
)
def test_a_pointer_that_may_be_right_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""
